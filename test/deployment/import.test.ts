import { expect, onTestFinished, test } from "vitest";
import { openDeployment, otherHost } from "../support/deployment.ts";
import { signInAt } from "../support/owner-requests.ts";
import { expected } from "../support/password-pusher/expected.ts";
import { importOf } from "../support/password-pusher/import-run.ts";
import { installProductionAt } from "../support/password-pusher/installations.ts";
import { startPostgres } from "../support/postgres/server.ts";

const deployment = openDeployment();

test("an installation on a stock PostgreSQL of another host, without TLS, is imported while both processes run", async () => {
  const stock = await startPostgres({ passwords: true });
  onTestFinished(() => stock[Symbol.asyncDispose]());
  const installation = await installProductionAt(stock.url());
  const database = new URL(installation.database);
  database.hostname = otherHost;
  const imported = await deployment.run(importOf({ ...installation, database: database.href }));
  // Imported, apart from the rows that the fixture has for the report.
  expect(imported.exitCode, imported.stderr + imported.stdout).toBe(3);
  const [admin] = expected.production.users;
  for (const _ of ["each", "process"]) {
    const cookie = await signInAt(deployment.origin, admin?.email ?? "", admin?.password ?? "");
    for (const path of ["/p", "/p?state=expired"]) expect((await deployment.visit(path, { cookie })).status).toBe(200);
  }
});
