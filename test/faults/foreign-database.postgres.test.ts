import { existsSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { installProductionOnPostgres } from "../support/password-pusher/installations.ts";
import { newDataDir, runProgram } from "../support/processes.ts";

test("a Password Pusher database on a server is refused by name, without creating or requiring a key", async () => {
  const { database } = await installProductionOnPostgres();
  const dataDir = newDataDir();
  const environment = { PORT: "0", DATA_DIR: dataDir, DATABASE_URL: database };
  const run = await runProgram(["doctor"], environment);
  expect(run.exitCode).toBe(1);
  expect(run.stdout + run.stderr).toMatch(/DATABASE_URL names holds the tables of another program/);
  expect(run.stdout + run.stderr).not.toContain("master.key");
  const start = await runProgram(["serve"], environment);
  expect(start.exitCode).toBe(2);
  expect(start.stderr).toMatch(/found the data of a Password Pusher(?:.|\n)*SEALPUSH_MOVE_IN=yes/);
  expect(existsSync(join(dataDir, "master.key"))).toBe(false);
});

test("a foreign database that cannot be read as a Password Pusher's is refused with the choices", async () => {
  const { database: url } = await installProductionOnPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("DROP TABLE pushes CASCADE").finally(() => client.end());
  const start = await runProgram(["serve"], { PORT: "0", DATA_DIR: newDataDir(), DATABASE_URL: url });
  expect(start.exitCode).toBe(1);
  expect(start.stderr).toMatch(/SEALPUSH_MOVE_IN=yes to import.*SEALPUSH_MOVE_IN=no/);
});
