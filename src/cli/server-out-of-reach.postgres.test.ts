import { expect, test } from "vitest";
import { createUser, makeTestCli, password } from "../../test/support/cli.ts";

const secret = "a-password-of-the-database";
/** Nothing listens on this port. */
const environment = { DATABASE_URL: `postgres://sealpush:${secret}@127.0.0.1:1/sealpush`, PORT: "1" };

test("a command reports an unreachable database server in one line, without the password", async () => {
  const run = await makeTestCli().run(createUser, { stdin: password, environment });
  expect(run).toMatchObject({ exitCode: 1, stdout: "" });
  expect(run.stderr).toMatch(/^[^\n]*127\.0\.0\.1[^\n]*\.\n$/);
  expect(run.stderr).not.toContain(secret);
});

test("doctor reports an unreachable database server, and continues", async () => {
  const cli = makeTestCli();
  const run = await cli.run(["doctor"], { environment });
  expect(run.exitCode).toBe(1);
  expect(run.stdout).toMatch(/^fail +database: .*127\.0\.0\.1/m);
  expect(run.stdout).toMatch(/^\w+ +disk writable: /m);
  expect(run.stdout).not.toContain(secret);
});
