import { existsSync } from "node:fs";
import type { ImportSource, SourceSnapshot } from "@sealpush/import-password-pusher";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { withDatabaseOf } from "../support/database-of.ts";
import { stranger } from "../support/domain.ts";
import { engine } from "../support/engine.ts";
import { readRows } from "../support/engine-database.ts";
import { expected } from "../support/password-pusher/expected.ts";
import { importOf, makeImportTarget, pushTagged, retrieve, withReport } from "../support/password-pusher/import-run.ts";
import {
  changeDatabase,
  type Installation,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../support/password-pusher/installations.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../support/password-pusher/mariadb.ts";
import { openSource } from "../support/password-pusher/open-source.ts";
import {
  addLeaver,
  addView,
  changeSource,
  linkOf,
  newcomer,
  sourceChanges,
} from "../support/password-pusher/source-changes.ts";

const { users } = expected.production;

async function withSource<T>(installation: Installation, ask: (source: ImportSource) => Promise<T>): Promise<T> {
  const source = await openSource(installation);
  return await ask(source).finally(() => source.close());
}

/** Each change on top of those before it. */
async function expectAllNoticed(installation: Installation, writerUrl?: string): Promise<void> {
  await changeSource(installation, addLeaver, writerUrl);
  let before: SourceSnapshot = await withSource(installation, (source) => source.snapshot());
  for (const { name, change } of sourceChanges) {
    expect(await withSource(installation, (source) => source.snapshot()), name).toEqual(before);
    await changeSource(installation, change, writerUrl);
    before = await withSource(installation, async (source) => {
      const [changes, after] = [await source.changesSince(before.tables), await source.snapshot()];
      expect([name, changes.length > 0 || after.identities !== before.identities]).toEqual([name, true]);
      return after;
    });
  }
}

describe("whatever is done in Password Pusher is a change of its snapshot, on", () => {
  it("SQLite", async () => await expectAllNoticed(installProduction()));

  it("PostgreSQL", async () => await expectAllNoticed(await installProductionOnPostgres()));
});

describe.runIf(mariadbProgram !== undefined)(
  "whatever is done in Password Pusher is a change of its snapshot, on",
  () => {
    let mariadb: Mariadb | undefined;
    beforeAll(async () => {
      mariadb = await startMariadb(mariadbProgram ?? "");
    });
    afterAll(() => mariadb?.[Symbol.asyncDispose]());

    it("MariaDB", async () => {
      if (mariadb === undefined) throw new Error("MariaDB has not been started.");
      const installation = await installProductionOnMysql(mariadb);
      await expectAllNoticed(
        installation,
        installation.database.replace("reader:", "writer:").replace("mysql2:", "mysql:"),
      );
    });
  },
);

test("a changed source is refused with what was done on both sides and the lines to type, and nothing is written", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  await changeSource(installation, async (run) => {
    await addView(run, 11);
    await addView(run, 11);
    await run("DELETE FROM pushes WHERE id = 36");
    await run("UPDATE pushes SET name = 'Renamed there', updated_at = '2026-11-20 11:59:00' WHERE id = 38");
  });
  target.clock.advance(1_000);
  const report = withReport(target);
  const rowsHere = () =>
    withDatabaseOf(target.cli.dataDir, (db) => readRows(db, "SELECT source_id, id FROM imported_rows ORDER BY id"));
  const before = await rowsHere();
  for (const options of [["--dry-run"], []]) {
    const run = await target.run(installation, ...options, ...report.options);
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(run.stderr).toContain("Password Pusher has changed since its first rows were imported here, so nothing was");
    expect(run.stderr).toMatch(/Changed there {4}pushes 2, audit_logs 2\n {2}Done here since {2}nothing\n/);
    const lines = run.stderr.split("\n");
    expect(lines).toContain(`  export DATA_DIR=${target.cli.dataDir}-2`);
    const command = importOf(installation).join(" ");
    expect(lines.some((line) => line.includes("sealpush") && line.includes(command.split(" --")[0] ?? ""))).toBe(true);
    expect(lines.some((line) => line.includes("createdb "))).toBe(engine === "postgres");
    expect(report.read()).toMatchObject({ outcome: "failed", problems: [] });
  }
  expect(existsSync(`${target.cli.dataDir}-2`)).toBe(false);
  expect(await rowsHere()).toEqual(before);
  const app = await target.serve();
  const { payload } = pushTagged("text-plain");
  expect((await retrieve(app, "text-plain")).body).toMatchObject({ payload });

  const { accounts, pushes } = app.app.domain;
  const [admin] = users;
  const client = { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: "test" };
  await accounts.signIn({ email: admin?.email ?? "", password: admin?.password ?? "", client });
  await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push: { payload: "made here" } } });
  const again = await target.run(installation);
  expect(again.stderr).toContain("  Done here since  1 view, 1 sign-in, 1 new row\n");
  expect(await pushes.find(linkOf(11), stranger)).toMatchObject({ expired: false });

  const bob = await accounts.findUserByEmail(users[2]?.email ?? "");
  await app.app.domain.deleteAccount(bob?.id ?? 0, null);
  const gone = await target.run(installation);
  expect(gone.stderr).toMatch(/Done here since {2}.*[0-9]+ ended pushes, 1 deleted account, 1 sign-in, 1 new row\n/);

  const fresh = makeImportTarget();
  expect((await fresh.run(installation)).exitCode).toBe(3);
});

test("a copy that was used separately is refused, although its rows have the same numbers and times", async () => {
  const target = makeImportTarget();
  const [one, other] = [installProduction(), installProduction()];
  for (const [installation, link] of [
    [one, "made-in-the-one"],
    [other, "made-in-the-other"],
  ] as const) {
    changeDatabase(installation.databasePath, (connection) =>
      connection.prepare("UPDATE pushes SET url_token = ? WHERE id = 11").run(link),
    );
  }
  expect((await target.run(one)).exitCode).toBe(3);
  expect((await target.run(one)).exitCode).toBe(3);
  const refused = await target.run(other);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("other rows under the same ids: --database is another copy of it");
});

test("an import that was refused before its first row does not bind later ones to that state of the source", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const wrongKey = { ...installation, environment: { PWPUSH_MASTER_KEY: "ab".repeat(32) } };
  expect((await target.run(wrongKey)).exitCode).toBe(2);
  expect((await target.run(installation, "--dry-run")).exitCode).toBe(3);
  const leftOut = installProduction((connection) =>
    connection.exec(
      "PRAGMA foreign_keys = OFF; UPDATE users SET email = 'x' || id; DELETE FROM pushes; DELETE FROM site_settings",
    ),
  );
  await target.run(leftOut);
  const [added] = sourceChanges.filter(({ name }) => name === "a new user with a push");
  await changeSource(installation, async (run, folder) => await added?.change(run, folder));
  expect((await target.run(installation)).exitCode).toBe(3);
  const app = await target.serve();
  expect(await app.app.domain.accounts.findUserByEmail(newcomer.email)).toBeDefined();
});

test("nobody takes over an imported account that was never signed in to by signing up with its address", async () => {
  const target = makeImportTarget();
  const installation = installProduction((connection) =>
    connection.exec("UPDATE users SET confirmed_at = NULL, current_sign_in_at = NULL, last_sign_in_at = NULL"),
  );
  await target.run(installation, "--unconfirmed-users", "unconfirmed");
  const { domain } = (await target.serve()).app;
  const unused = await readRows(domain.db, "SELECT id FROM users WHERE last_signed_in_at IS NULL");
  expect(unused).toEqual([]);
});
