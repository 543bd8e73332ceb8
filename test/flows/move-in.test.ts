import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { engine } from "../support/engine.ts";
import { composeEnvironment } from "../support/password-pusher/compose.ts";
import { installProductionOnPostgres } from "../support/password-pusher/installations.ts";
import { changeSource, linkOf } from "../support/password-pusher/source-changes.ts";
import {
  all,
  type Environment,
  expectMoved,
  page,
  progressPort,
  swap,
  totals,
  withMore,
} from "../support/password-pusher/swapped.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { runToItsEnd, spawnProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

describe("a volume of Password Pusher", () => {
  it("is imported with SEALPUSH_MOVE_IN=yes, and later starts serve at once", async () => {
    const installation = withMore();
    const swapped = await swap(installation);
    const first = await swapped.serve("yes");
    await expectMoved(first);
    const report = first.logLines.join("\n");
    expect(report).toContain(`"event":"import_progress","table":"pushes","read":${all.pushes},"total":${all.pushes}}`);
    expect(report).toContain("PWPUSH_MASTER_KEY is Password Pusher's while SEALPUSH_MOVE_IN is set.");
    await first.stop();
    const events = first.logLines.map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
    const ending = events.find(({ event }) => event === "import_finished");
    expect(ending).toMatchObject({
      outcome: "with_problems",
      suppressedCount: 0,
      report: expect.stringContaining(join(swapped.dataDir, "import-")),
      counts: { there: { users: all.users, pushes: all.pushes } },
      msg: expect.stringContaining("`sealpush import verify`"),
    });
    const problems = events.filter(({ event }) => event === "import_problem");
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) {
      expect(Object.keys(problem).sort()).toEqual(["effect", "event", "id", "level", "reason", "table", "time"]);
    }
    swapped.expectUnchanged();
    const ownKey = readFileSync(join(swapped.dataDir, "master.key"), "utf8").trim();
    expect(ownKey).toMatch(/^[0-9a-f]{64}$/);
    expect(ownKey).not.toBe(composeEnvironment.PWPUSH_MASTER_KEY);

    renameSync(installation.databasePath, `${installation.databasePath}.old`);
    const second = await swapped.serve("yes");
    await expectMoved(second, 2);
    expect(second.logLines.join("\n")).not.toContain("import_progress");
    await second.stop();

    const oldKey = await swapped.run(undefined, { DATABASE_URL: swapped.own.SEALPUSH_DATABASE_URL ?? "" });
    expect(oldKey.exitCode).toBe(1);
    expect(oldKey.stderr).toContain("set SEALPUSH_MOVE_IN=yes again, or remove PWPUSH_MASTER_KEY");

    // The old variables are gone: the new key and database are found without them.
    renameSync(`${installation.databasePath}.old`, installation.databasePath);
    const { SEALPUSH_DATABASE_URL: url = "" } = swapped.own;
    const third = await startServer({ dataDir: swapped.dataDir, environment: { DATABASE_URL: url } });
    await expectMoved(third, 4);
  });
});

test("a database that holds data already is not moved into, and one that a server has only started on is", async () => {
  const swapped = await swap(withMore());
  const server = await swapped.serve("no");
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ push: { payload: "made here" } }),
  });
  expect(answer.status).toBe(201);
  await server.stop();
  const refused = await swapped.run("yes");
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("is in use already, so nothing was imported into it. SEALPUSH_MOVE_IN=no serves it");

  const unused = await swap(withMore());
  await (await unused.serve("no")).stop();
  await expectMoved(await unused.serve("yes"));
});

/** The addresses of databases that do not have the imported data. */
async function emptyDatabases(dataDir: string): Promise<readonly string[]> {
  if (engine === "postgres") return [(await makePostgresDatabase()).url, `sqlite:${join(dataDir, "other.sqlite3")}`];
  return [`sqlite:${join(dataDir, "other.sqlite3")}`];
}

test("a complete import is not repeated into another database", async () => {
  const swapped = await swap(withMore());
  await (await swapped.serve("yes")).stop();
  const record = join(swapped.dataDir, "moved-in");
  const former = readFileSync(record, "utf8").trim();
  for (const url of await emptyDatabases(swapped.dataDir)) {
    const { exitCode, stderr } = await swapped.run("yes", { SEALPUSH_DATABASE_URL: url });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`were imported before, into the database ${former}`);
    expect(stderr).toContain("`sealpush move`");
  }
  // As after a restore into a new folder.
  rmSync(record);
  const server = await swapped.serve("yes");
  await expectMoved(server);
  expect(server.logLines.join("\n")).not.toContain("import_progress");
  expect(readFileSync(record, "utf8").trim()).toBe(former);
});

/** Starts the import and kills it when it has read this many pushes. @returns false if it has ended before. */
async function killAfter(pushes: number, environment: Environment): Promise<boolean> {
  const child = spawnProgram(["serve"], environment);
  onTestFinished(() => void child.kill("SIGKILL"));
  const run = runToItsEnd(child);
  const port = await progressPort(child.stdout);
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/up`);
    const progress = await answer.json();
    if (answer.status !== 503 || progress.pushes?.read >= pushes) break;
  }
  child.kill("SIGKILL");
  return (await run).exitCode === null;
}

test("while it imports, /up answers 503 with the progress, and a killed import continues", async () => {
  /** Enough to be killed between them. */
  const manyPushes = 300;
  const installation = withMore(manyPushes);
  const swapped = await swap(installation);
  for (const pushes of [1, 120]) expect(await killAfter(pushes, swapped.environmentOf("yes"))).toBe(true);

  const undecided = await swapped.run();
  // With PostgreSQL, nothing but the variable says where the begun import is.
  expect(undecided.stderr).toMatch(page("pushes"));
  const other = await swapped.run("no");
  expect(other.exitCode).toBe(1);
  expect(other.stderr).toContain("SEALPUSH_MOVE_IN=yes finishes it");

  const away = join(installation.folder, "sealpush");
  renameSync(swapped.dataDir, away);
  const withoutSource = await swapped.run(undefined, {
    DATA_DIR: away,
    DATABASE_URL: swapped.own.SEALPUSH_DATABASE_URL ?? "",
    PWPUSH_MASTER_KEY: "",
    PWPUSH_MASTER_KEY_PREVIOUS: "",
  });
  expect(withoutSource.exitCode).toBe(1);
  expect(withoutSource.stderr).toContain("was begun and is not complete: start again with SEALPUSH_MOVE_IN=yes");
  renameSync(away, swapped.dataDir);

  const child = spawnProgram(["serve"], swapped.environmentOf("yes"));
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = await progressPort(child.stdout);
  const json = await fetch(`http://127.0.0.1:${port}/up`);
  expect(json.status).toBe(503);
  expect(json.headers.get("cache-control")).toBe("no-store");
  expect(await json.json()).toMatchObject({ status: "moving_in" });
  const text = await fetch(`http://127.0.0.1:${port}/p/anything`, { headers: { accept: "text/html" } });
  expect([text.status, text.headers.get("content-type")]).toEqual([503, "text/plain; charset=utf-8"]);
  expect(await text.text()).toMatch(/^This server is importing the data of Password Pusher: .*users.*pushes/);
  child.kill("SIGTERM");
  await runToItsEnd(child);

  const server = await swapped.serve("yes");
  for (const number of [1, 121, manyPushes - 1]) await expectMoved(server, number);
  await server.stop();
  swapped.expectUnchanged();
});

/** An address of this machine that is not recognised as one: as in a compose file, the server is asked for TLS first. */
function asOnAnotherMachine(database: string): string {
  return Object.assign(new URL(database), { hostname: "[::ffff:127.0.0.1]" }).href;
}

describe("DATABASE_URL of Password Pusher", () => {
  it("is found and imported: PostgreSQL without TLS on another machine, with the files of the volume", async () => {
    const installation = await installProductionOnPostgres();
    rmSync(installation.databasePath);
    // The start uses the real time, at which others of the fixture have expired.
    await changeSource(installation, (run) => run("UPDATE pushes SET expire_after_days = 36500 WHERE id = 57"));
    const swapped = await swap(installation, { DATABASE_URL: asOnAnotherMachine(installation.database) });
    const undecided = await swapped.run();
    expect(undecided.exitCode).toBe(2);
    expect(undecided.stderr).toMatch(page(`${totals.users} users, ${totals.pushes} pushes`));
    expect(undecided.stderr).not.toContain(installation.database);
    const server = await swapped.serve("yes");
    expect(server.logLines.join("\n")).toMatch(/"move_not_marked".*it is on a server and only read\. Keep /);
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${linkOf(57)}`);
    const { files } = (await answer.json()) as { files: readonly { url: string }[] };
    expect(files).toHaveLength(3);
    for (const { url } of files) expect((await fetch(url)).status).toBe(200);
    swapped.expectUnchanged();
  });
});
