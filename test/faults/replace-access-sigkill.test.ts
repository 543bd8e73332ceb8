import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { makeOwner } from "../support/owner.ts";
import { newDataDir, runProgram, spawnProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

it("SIGKILL in the middle of keys replace-access changes nothing, and the command can be repeated", async () => {
  const dataDir = newDataDir();
  const server = await startServer({ dataDir });
  const { apiToken } = await makeOwner(dataDir, server.baseUrl);
  await server.stop();
  const file = new Database(join(dataDir, "sealpush.sqlite3"));
  // Stops the command after it has written the new secret and revoked the tokens.
  file.exec(`CREATE TRIGGER never_ends AFTER UPDATE OF mac ON users BEGIN
    SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END`);
  const command = spawnProgram(["keys", "replace-access", "--yes"], { DATA_DIR: dataDir });
  const closed = new Promise((resolve) => command.on("close", (_, signal) => resolve(signal)));
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
  // The command also writes when it opens the data, but then for a moment only.
  await expect.poll(() => (seen = isWriting() ? seen + 1 : 0), { interval: 20 }).toBeGreaterThan(50);
  command.kill("SIGKILL");
  expect(await closed).toBe("SIGKILL");
  file.exec("DROP TRIGGER never_ends");
  file.close();

  const statusWithToken = async () => {
    const running = await startServer({ dataDir });
    const headers = { authorization: `Bearer ${apiToken}` };
    const answer = await fetch(`${running.baseUrl}/api/v2/pushes/active`, { headers });
    await answer.arrayBuffer();
    await running.stop();
    return answer.status;
  };
  expect(await statusWithToken()).toBe(200);
  expect(await runProgram(["keys", "replace-access", "--yes"], { DATA_DIR: dataDir })).toMatchObject({ exitCode: 0 });
  expect(await statusWithToken()).toBe(401);
});
