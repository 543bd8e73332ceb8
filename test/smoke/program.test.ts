import { expect, test } from "vitest";
import { makeClientProgram, storeLogin } from "../support/client-program.ts";
import { createPush, endpoints, retrieve } from "../support/endpoints.ts";
import { newDataDir, runProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

test("a started server hands a secret over once, also after a restart, and stops when asked", async () => {
  const dataDir = newDataDir();
  const first = await startServer({ dataDir });
  const push = await createPush(first.baseUrl, { payload: "secret", expire_after_views: 1 });
  expect(await first.stop()).toEqual({ exitCode: 0, signal: null });
  const second = await startServer({ dataDir });
  expect(await retrieve(endpoints.apiV2, second.baseUrl, push)).toBe("payload");
  expect(await retrieve(endpoints.apiV2, second.baseUrl, push)).toBe("gone");
});

test("the operator's commands make a user and a token, with which the client's commands push and get", async () => {
  const dataDir = newDataDir();
  const server = await startServer({ dataDir });
  const run = (argv: readonly string[], stdin = "") => runProgram(argv, { DATA_DIR: dataDir }, stdin);
  const made = await run(["user", "create", "--email", "ada@example.com", "--password-stdin"], "correct horse battery");
  expect(made).toMatchObject({ exitCode: 0, stderr: "" });
  const token = await run(["token", "create", "--email", "ada@example.com", "--name", "smoke"]);
  const client = makeClientProgram("whole");
  storeLogin(client, server.baseUrl, token.stdout.trim());
  const pushed = await client.run(["push"], { stdin: "secret" });
  expect(pushed).toMatchObject({ exitCode: 0 });
  expect(await client.run(["open", pushed.stdout.trim()])).toMatchObject({ exitCode: 0, stdout: "secret" });
});
