import { expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { startTestApp } from "../support/app.ts";
import { makeFolder } from "../support/folders.ts";
import { bootCodeOf, visit } from "../support/form-requests.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";

test("the boot code logged by one machine works at another with its own folder, and leads to steps for PostgreSQL", async () => {
  const { url } = await makePostgresDatabase();
  const environment = { DATABASE_URL: url, PWPUSH_MASTER_KEY: "5ea1".repeat(16) };
  await using here = await startTestApp({ dataDir: makeFolder(), environment });
  await using there = await startTestApp({ dataDir: makeFolder(), environment });
  const form = { boot_code: bootCodeOf(here), email: "ada@example.com", password: "correct horse battery" };
  const made = await visit(there, "/first_run", form);
  expect(made).toMatchObject({ status: 303, location: "/admin" });
  const { body } = await there.server.inject({ url: "/admin", headers: { cookie: made.cookie } });
  const { backupCheck, backupPostgres } = en.admin.steps;
  expect([body.includes(backupPostgres), body.includes(backupCheck)]).toEqual([true, false]);
  expect(await visit(here, "/first_run", form)).not.toMatchObject({ status: 200 });
});
