import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withDatabaseOf } from "../support/database-of.ts";
import { readRows } from "../support/engine-database.ts";
import { expectEverything } from "../support/password-pusher/expect-everything.ts";
import { type ExpectedInstallation, expected } from "../support/password-pusher/expected.ts";
import { importOf, makeImportTarget, pushTagged } from "../support/password-pusher/import-run.ts";
import {
  type Installation,
  installDefaultKey,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../support/password-pusher/installations.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../support/password-pusher/mariadb.ts";

const { production, default_key: defaultKey } = expected;

async function expectWholeMove(
  there: ExpectedInstallation,
  installation: Installation,
  exitCode: number,
  userTimesMs = 1,
) {
  const target = makeImportTarget();
  const run = await target.run(installation);
  expect(run.exitCode, run.stderr + run.stdout).toBe(exitCode);
  await expectEverything(target, there, userTimesMs);
}

const whole = "is imported completely: accounts, pushes, passphrases, files, limits, lists and trails";

describe.each([
  ["SQLite", production, () => installProduction(), 3],
  ["PostgreSQL", production, installProductionOnPostgres, 3],
  ["SQLite, without a key", defaultKey, () => installDefaultKey(), 0],
] as const)("an installation on %s", (_name, there, install, exitCode) => {
  it(whole, async () => await expectWholeMove(there, await install(), exitCode));
});

it("rules judge nothing that is imported", async () => {
  const environment = {
    PWP__POLICY__PASSPHRASE_REQUIRED: "true",
    PWP__POLICY__MAX_MINUTES: "1",
    PWP__POLICY__MAX_VIEWS: "1",
    PWP__POLICY__KINDS: "qr",
    PWP__POLICY__ENCRYPTION_REQUIRED: "true",
  };
  const target = makeImportTarget();
  const run = await target.cli.run(importOf(installDefaultKey()), { environment });
  expect(run.exitCode, run.stderr + run.stdout).toBe(0);
  await expectEverything(target, defaultKey, 1);
});

it("however often an ended push was asked for there, its refused retrievals count up to its limit, as here", async () => {
  const { id } = pushTagged("expired-by-views");
  const target = makeImportTarget();
  await target.run(
    installProduction((connection) => {
      const refuse = connection.prepare(
        `INSERT INTO audit_logs (created_at, updated_at, ip, kind, push_id)
         SELECT created_at, updated_at, ip, kind, push_id FROM audit_logs WHERE push_id = ? AND kind = 2 LIMIT 1`,
      );
      for (let refusals = 0; refusals < 40; refusals += 1) refuse.run(id);
    }),
  );
  const rows = await withDatabaseOf(target.cli.dataDir, (db) =>
    readRows(
      db,
      `SELECT views, refusals, expire_after_views FROM pushes
       WHERE id = (SELECT id FROM imported_rows WHERE kind = 'push' AND source_id = ${id})`,
    ),
  );
  expect(rows).toEqual([{ views: 5, refusals: 5, expire_after_views: 5 }]);
});

describe.runIf(mariadbProgram !== undefined)("an installation on MariaDB", () => {
  let mariadb: Mariadb | undefined;
  beforeAll(async () => {
    mariadb = await startMariadb(mariadbProgram ?? "");
  });
  afterAll(() => mariadb?.[Symbol.asyncDispose]());

  it(whole, async () => {
    if (mariadb === undefined) throw new Error("MariaDB has not been started.");
    await expectWholeMove(production, await installProductionOnMysql(mariadb), 3, 1_000);
  });
});

it("an imported account counts as used, also one that was made here before: no single sign-on takes it over", async () => {
  const target = makeImportTarget();
  const installation = installDefaultKey();
  const usersIn = () =>
    withDatabaseOf(target.cli.dataDir, (db) =>
      readRows<{ email: string; unused: number }>(db, "SELECT email, is_unused AS unused FROM users ORDER BY email"),
    );
  await target.run(installation);
  const imported = await usersIn();
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter(({ unused }) => unused === 1)).toEqual([]);

  const other = makeImportTarget();
  const create = ["user", "create", "--email", imported[0]?.email ?? "", "--show-password"];
  expect((await other.cli.run(create)).exitCode).toBe(0);
  const unusedThere = () =>
    withDatabaseOf(other.cli.dataDir, (db) => readRows(db, "SELECT id FROM users WHERE is_unused = 1"));
  expect(await unusedThere()).toHaveLength(1);
  await other.run(installation, "--merge-users");
  expect(await unusedThere()).toEqual([]);
});
