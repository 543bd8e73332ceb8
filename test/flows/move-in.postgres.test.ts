import { join } from "node:path";
import { expect, test } from "vitest";
import { composeEnvironment, digestOf } from "../support/password-pusher/compose.ts";
import { installProduction } from "../support/password-pusher/installations.ts";
import { addManyPushes, manyTokenOf } from "../support/password-pusher/many-pushes.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { runProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

test("a move-in into PostgreSQL leaves the old database as it was and serves its pushes", async () => {
  const installation = installProduction((connection) => addManyPushes(connection, 10));
  const before = digestOf(installation);
  const { url } = await makePostgresDatabase();
  const environment = {
    ...composeEnvironment,
    SEALPUSH_MOVE_IN: "yes",
    SEALPUSH_DATABASE_URL: url,
    DATABASE_URL: "",
  };
  const server = await startServer({ dataDir: join(installation.storageFolder, "sealpush"), environment });
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(1)}`);
  expect(await answer.json()).toMatchObject({ payload: "correct-horse-battery-staple" });
  const imports = server.logLines.filter((line) => line.includes('"event":"import_started"'));
  expect(imports).toHaveLength(1);
  expect(digestOf(installation)).toBe(before);
});

test("while SEALPUSH_MOVE_IN is set, sealpush move copies this server's database, and its keys cannot be rotated", async () => {
  const installation = installProduction((connection) => addManyPushes(connection, 10));
  const dataDir = join(installation.storageFolder, "sealpush");
  const environment = { ...composeEnvironment, DATA_DIR: dataDir, SEALPUSH_MOVE_IN: "yes" };
  await (await startServer({ dataDir, environment: { ...environment, DATABASE_URL: "" } })).stop();
  const { url } = await makePostgresDatabase();
  const source = `sqlite:${join(dataDir, "sealpush.sqlite3")}`;
  const run = (...argv: readonly string[]) => runProgram(argv, environment);

  const moved = await run("move", "--from", source, "--to", url);
  expect(moved).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Now set SEALPUSH_DATABASE_URL to the") });
  const former = await run("serve");
  expect(former).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("SEALPUSH_DATABASE_URL) to that one") });
  const server = await startServer({
    dataDir,
    environment: { ...environment, SEALPUSH_DATABASE_URL: url, DATABASE_URL: "" },
  });
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(1)}`);
  expect(await answer.json()).toMatchObject({ payload: "correct-horse-battery-staple" });
  expect(server.logLines.join("\n")).not.toContain("import_progress");
  await server.stop();

  const rotated = await run("keys", "rotate");
  expect(rotated).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringContaining("first remove SEALPUSH_MOVE_IN"),
  });
  expect(await run("move", "--reopen", source)).toMatchObject({ exitCode: 0 });

  const nowhere = Object.assign(new URL(url), { pathname: "/no_such_database" }).href;
  const doctor = await runProgram(["doctor"], { ...environment, SEALPUSH_DATABASE_URL: nowhere });
  expect(doctor.stdout).toMatch(/has no database no_such_database .*: create it, or check SEALPUSH_DATABASE_URL\./);
});
