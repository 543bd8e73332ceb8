import { expect, test } from "vitest";
import { withDatabaseOf } from "../support/database-of.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { makeImportTarget } from "../support/password-pusher/import-run.ts";
import { installProduction } from "../support/password-pusher/installations.ts";

// A writer of the database changes what an import has recorded, so that the next one gives rows to another account.

test.each([
  [
    "user, pointed at another account",
    "UPDATE imported_rows SET id = (SELECT max(id) FROM users) WHERE kind = 'user' AND id <> (SELECT max(id) FROM users)",
    "user",
  ],
  [
    "user, with other missing parts",
    "UPDATE imported_rows SET missing_parts = 'api_token' WHERE kind = 'user'",
    "user",
  ],
  ["push, of another source row", "UPDATE imported_rows SET source_id = source_id + 90000 WHERE kind = 'push'", "push"],
])("the changed record of a %s stops the next import", async (_, change, kind) => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  const users = () => withDatabaseOf(target.cli.dataDir, (db) => readRows(db, "SELECT id, mac FROM users ORDER BY id"));
  const before = await users();
  expect(await withDatabaseOf(target.cli.dataDir, (db) => changeRows(db, change))).toBeGreaterThan(0);
  const run = await target.run(installation);
  expect(run.exitCode).toBe(1);
  expect(run.stderr).toMatch(
    new RegExp(`The record of ${kind} \\d+ in the table imported_rows was changed in the database`),
  );
  const dry = await target.run(installation, "--dry-run");
  expect(dry.exitCode).toBe(1);
  expect(await users()).toEqual(before);
});

test("after a replacement of the access secret, the next import knows what was imported", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const first = await target.run(installation);
  expect((await target.cli.run(["keys", "replace-access", "--yes"])).exitCode).toBe(0);
  const again = await target.run(installation);
  expect([again.exitCode, again.stderr.includes("was changed in the database")]).toEqual([first.exitCode, false]);
});
