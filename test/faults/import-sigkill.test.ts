import { type ChildProcess, spawn } from "node:child_process";
import { expect, test } from "vitest";
import { root } from "../../scripts/bundles.ts";
import type { ReadConnection } from "../../src/database/database.ts";
import { openReadOnly } from "../../src/database/open-database.ts";
import { type DriverRow, sql } from "../../src/database/statement.ts";
import { testConfig } from "../support/domain.ts";
import { settingsOfEngine } from "../support/engine.ts";
import { importOf } from "../support/password-pusher/import-run.ts";
import { type Installation, installProduction } from "../support/password-pusher/installations.ts";
import { addManyPushes, manyTokenOf } from "../support/password-pusher/many-pushes.ts";
import { newDataDir, runProgram, runToItsEnd, spawnProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

const manyPushes = 1_000;
/** The numbers of imported rows after which the process is killed, one kill after the other. */
const kills = [1, 200, 201, 600];

const counted = sql<[], { count: number }>("SELECT count(*) AS count FROM imported_rows");
const brought = sql<[], DriverRow>(
  `SELECT imported_rows.source_id AS sourceId, users.email AS owner, pushes.kind AS kind, pushes.created_at AS createdAt,
     pushes.expires_at AS expiresAt, ended_at AS endedAt, end_reason AS reason, pushes.views AS views, refusals, audit_count AS events,
     stored_bytes AS bytes, (SELECT count(*) FROM files WHERE push_id = pushes.id) AS files,
     (SELECT count(*) FROM audit_entries WHERE push_id = pushes.id) AS entries
   FROM imported_rows JOIN pushes ON pushes.id = imported_rows.id LEFT JOIN users ON users.id = pushes.owner_id
   WHERE imported_rows.kind = 'push' ORDER BY imported_rows.source_id`,
);
const accounts = sql<[], DriverRow>(
  `SELECT email, has_password, admin, (SELECT count(*) FROM api_tokens WHERE user_id = users.id) AS tokens,
     (SELECT count(*) FROM backup_codes WHERE user_id = users.id) AS codes FROM users ORDER BY email`,
);
const totals = sql<[], DriverRow>(
  `SELECT (SELECT count(*) FROM pushes) AS pushes, (SELECT count(*) FROM payloads) AS payloads,
     (SELECT count(*) FROM audit_entries) AS entries, (SELECT count(*) FROM files) AS files,
     (SELECT count(*) FROM link_deliveries) AS link_deliveries`,
);

async function theme<T>(dataDir: string, ask: (reading: ReadConnection) => Promise<T>): Promise<T | undefined> {
  const found = await openReadOnly(testConfig(dataDir, await settingsOfEngine(dataDir)).database);
  if (typeof found === "string") return undefined;
  try {
    return await ask(found.read);
  } finally {
    await found.close();
  }
}

const countRows = async (dataDir: string) => (await theme(dataDir, (reading) => reading.one(counted)))?.count ?? 0;

const everythingIn = (dataDir: string) =>
  theme(dataDir, async (reading) => ({
    pushes: await reading.all(brought),
    accounts: await reading.all(accounts),
    totals: await reading.all(totals),
  }));

/** Resolves when this many rows were imported, or the import has ended. */
async function untilImported(rows: number, dataDir: string, child: ChildProcess): Promise<void> {
  const isReached = async () => child.exitCode !== null || (await countRows(dataDir)) >= rows;
  await expect.poll(isReached, { interval: 25 }).toBe(true);
}

/** @returns false if it completed before. */
async function killAfter(rows: number, dataDir: string, installation: Installation): Promise<boolean> {
  const environment = { ...(await settingsOfEngine(dataDir)), DATA_DIR: dataDir };
  const child = spawnProgram(importOf(installation), environment);
  const run = runToItsEnd(child);
  await untilImported(rows, dataDir, child);
  child.kill("SIGKILL");
  return (await run).exitCode === null;
}

test("an import that is killed repeatedly ends with the same data as an uninterrupted one", async () => {
  const installation = installProduction((connection) => addManyPushes(connection, manyPushes));
  const [killed, undisturbed] = [newDataDir(), newDataDir()];
  let rows = 0;
  for (const kill of kills) {
    expect(await killAfter(kill, killed, installation)).toBe(true);
    const now = await countRows(killed);
    expect(now).toBeGreaterThanOrEqual(Math.max(rows, kill));
    rows = now;
  }
  const last = await runProgram(importOf(installation), { DATA_DIR: killed });
  expect(last.exitCode, last.stderr).toBe(3);
  expect(last.stdout).not.toContain("do not agree");
  await runProgram(importOf(installation), { DATA_DIR: undisturbed });
  expect(await everythingIn(killed)).toEqual(await everythingIn(undisturbed));

  const server = await startServer({ dataDir: killed });
  for (const number of [0, 1, 7, manyPushes - 1]) {
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(number)}?passphrase=open+sesame`);
    expect(await answer.json()).toMatchObject({ payload: "correct-horse-battery-staple", views_remaining: 3 });
  }
});

type Environment = Readonly<Record<string, string>>;
type Start = (argv: readonly string[], environment: Environment) => ChildProcess;

/** npm sends signals to its shell, not to the command. */
const spawnByNpm: Start = (argv, environment) =>
  spawn("npm", ["run", "--silent", "sealpush", "--", ...argv], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
  });

test.each<[string, Start, number | null]>([
  ["", spawnProgram, 1],
  // npm itself ends by the signal if its shell does. Its output ends with the command.
  [" through npm", spawnByNpm, null],
])("a signal%s stops an import between two rows, and the same command resumes it", async (_, start, endedWith) => {
  const installation = installProduction((connection) => addManyPushes(connection, manyPushes));
  const dataDir = newDataDir();
  const environment = { ...(await settingsOfEngine(dataDir)), DATA_DIR: dataDir };
  const child = start(importOf(installation), environment);
  const run = runToItsEnd(child);
  await untilImported(100, dataDir, child);
  child.kill("SIGTERM");
  const { exitCode, stdout } = await run;
  expect([1, endedWith]).toContain(exitCode);
  expect(stdout).toContain("run the same command again");
  const rest = await runProgram(importOf(installation), { DATA_DIR: dataDir });
  expect(rest.exitCode, rest.stderr).toBe(3);
  expect(rest.stdout).not.toContain("do not agree");
});
