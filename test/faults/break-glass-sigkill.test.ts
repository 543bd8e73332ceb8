import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { password } from "../support/owner.ts";
import { newDataDir, runProgram, spawnProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

const email = "ada@example.com";

async function makeAdministrator() {
  const dataDir = newDataDir();
  const environment = { DATA_DIR: dataDir, PWP__OVERRIDE_BASE_URL: "http://push.test" };
  const create = ["user", "create", "--email", email, "--admin", "--password-stdin"];
  expect((await runProgram(create, environment, password)).exitCode).toBe(0);
  return { dataDir, environment };
}

const tokenIn = (text: string) => /\?token=([\w-]{43})\n/.exec(text)?.[1] ?? "";

/** Writers stop at this statement, in their transaction. @returns how to wait for one, and how to end that. */
function stopWritersAt(dataDir: string, statement: string) {
  const file = new Database(join(dataDir, "sealpush.sqlite3"));
  file.exec(`CREATE TRIGGER never_ends AFTER ${statement} BEGIN
    SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END`);
  file.pragma("busy_timeout = 0");
  const isWriting = () => {
    try {
      file.exec("BEGIN IMMEDIATE; ROLLBACK");
      return false;
    } catch {
      return true;
    }
  };
  let seen = 0;
  return {
    /** Other writes take a moment only. */
    stopped: () => expect.poll(() => (seen = isWriting() ? seen + 1 : 0), { interval: 20 }).toBeGreaterThan(50),
    goOn() {
      file.exec("DROP TRIGGER never_ends");
      file.close();
    },
  };
}

function rowsOf(dataDir: string) {
  const file = new Database(join(dataDir, "sealpush.sqlite3"), { readonly: true });
  const count = (text: string) => file.prepare<[], { count: number }>(text).get()?.count;
  const rows = {
    links: count("SELECT count(*) AS count FROM mailed_links"),
    marked: count("SELECT count(*) AS count FROM users WHERE break_glass_at IS NOT NULL"),
    sessions: count("SELECT count(*) AS count FROM sessions"),
    entries: count("SELECT count(*) AS count FROM admin_audit_entries WHERE action LIKE '%break_glass'"),
  };
  file.close();
  return rows;
}

it("SIGKILL in the middle of user break-glass leaves no link and no mark, and the command can be repeated", async () => {
  const { dataDir, environment } = await makeAdministrator();
  const writers = stopWritersAt(dataDir, "UPDATE OF break_glass_at ON users");
  const command = spawnProgram(["user", "break-glass", email], environment);
  let printed = "";
  command.stdout?.on("data", (text) => (printed += String(text)));
  const closed = new Promise((resolve) => command.on("close", (_, signal) => resolve(signal)));
  await writers.stopped();
  command.kill("SIGKILL");
  expect(await closed).toBe("SIGKILL");
  writers.goOn();
  expect(printed).toBe("");
  expect(rowsOf(dataDir)).toEqual({ links: 0, marked: 0, sessions: 0, entries: 0 });
  const again = await runProgram(["user", "break-glass", email], environment);
  expect([again.exitCode, tokenIn(again.stdout)]).toEqual([0, expect.stringMatching(/./)]);
  expect(rowsOf(dataDir)).toEqual({ links: 1, marked: 1, sessions: 0, entries: 1 });
});

it("SIGKILL in the middle of a sign-in with the link begins no session, and the link still works, once", async () => {
  const { dataDir, environment } = await makeAdministrator();
  const token = tokenIn((await runProgram(["user", "break-glass", email], environment)).stdout);
  const enter = (baseUrl: string) =>
    fetch(`${baseUrl}/users/break_glass`, {
      method: "POST",
      redirect: "manual",
      headers: { "sec-fetch-site": "same-origin" },
      body: new URLSearchParams({ token }),
    });
  const server = await startServer({ dataDir });
  const writers = stopWritersAt(dataDir, "DELETE ON mailed_links");
  const answer = enter(server.baseUrl);
  const refused = expect(answer).rejects.toThrow();
  await writers.stopped();
  await server.kill();
  await refused;
  writers.goOn();
  expect(rowsOf(dataDir)).toEqual({ links: 1, marked: 1, sessions: 0, entries: 1 });
  const next = await startServer({ dataDir });
  const statuses = [(await enter(next.baseUrl)).status, (await enter(next.baseUrl)).status];
  expect(statuses).toEqual([303, 404]);
  await next.stop();
  expect(rowsOf(dataDir)).toMatchObject({ links: 0, sessions: 1, entries: 2 });
});
