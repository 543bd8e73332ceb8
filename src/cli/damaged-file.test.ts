import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createUser, makeCliUser, makeTestCli, password } from "../../test/support/cli.ts";

const nothing = "no database".repeat(999);

test("a command reports a damaged database in one line, without a stack trace", async () => {
  const cli = makeTestCli();
  await makeCliUser(cli);
  for (const file of ["sealpush.sqlite3", "sealpush.sqlite3-wal"]) writeFileSync(join(cli.dataDir, file), nothing);
  const run = await cli.run(createUser, { stdin: password });
  expect(run).toMatchObject({ exitCode: 1, stdout: "" });
  expect(run.stderr).toBe(
    `The database cannot be used (SQLITE_NOTADB): file is not a database: ${join(cli.dataDir, "sealpush.sqlite3")}. Check DATA_DIR or DATABASE_URL, or restore a backup.\n`,
  );
});

test("doctor reports a damaged database, and continues", async () => {
  const cli = makeTestCli();
  await makeCliUser(cli);
  writeFileSync(join(cli.dataDir, "sealpush.sqlite3"), nothing);
  const run = await cli.run(["doctor"], { environment: { PORT: "1" } });
  expect(run.exitCode).toBe(1);
  expect(run.stdout).toMatch(/^fail +database: /m);
  expect(run.stdout).toMatch(/^ok +disk writable: /m);
});
