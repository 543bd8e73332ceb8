import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";
import { makeFolder } from "../support/folders.ts";
import { bootCodeOf, visit } from "../support/form-requests.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";

test("the boot code logged by one machine works at another with its own folder", async () => {
  const { url } = await makePostgresDatabase();
  const environment = { DATABASE_URL: url, PWPUSH_MASTER_KEY: "5ea1".repeat(16) };
  await using here = await startTestApp({ dataDir: makeFolder(), environment });
  await using there = await startTestApp({ dataDir: makeFolder(), environment });
  const form = { boot_code: bootCodeOf(here), email: "ada@example.com", password: "correct horse battery" };
  expect(await visit(there, "/first_run", form)).toMatchObject({ status: 303 });
  expect(await visit(here, "/first_run", form)).not.toMatchObject({ status: 200 });
});
