import { expect, it } from "vitest";
import { addUnusablePasskey } from "../../test/support/accounts.ts";
import { createUser, email, makeTestCli, password, type TestCli } from "../../test/support/cli.ts";
import { withDatabaseOf } from "../../test/support/database-of.ts";
import { openTestDomain } from "../../test/support/domain.ts";
import { countRows, readRows } from "../../test/support/engine-database.ts";

async function makeDomain(cli: TestCli): Promise<void> {
  await cli.run([...createUser, "--admin"], { stdin: password });
  await cli.run(["user", "create", "--email", "eve@example.org", "--password-stdin"], { stdin: password });
}

async function addPasskeyOfEve(cli: TestCli): Promise<void> {
  await using fixture = await openTestDomain({ dataDir: cli.dataDir });
  const eve = await fixture.domain.accounts.findUserByEmail("eve@example.org");
  await addUnusablePasskey(fixture.domain, { id: eve?.id ?? 0 });
}

const about = (command: string, address = email) => ["user", command, "--email", address];

it("user list shows all users, as columns or as JSON", async () => {
  const cli = makeTestCli();
  await makeDomain(cli);
  const { stdout } = await cli.run(["user", "list"]);
  const [header, eve, ada, ...rest] = stdout.trimEnd().split("\n");
  expect(header).toMatch(/^id\temail\tadministrator\t/);
  expect(eve).toMatch(/^\d+\teve@example\.org\tno\tactive\tno\t0\t/);
  expect(ada).toMatch(/^\d+\tada@example\.com\tyes\tactive\tno\t0\t/);
  expect(rest).toEqual([]);
  const json = await cli.run(["user", "list", "--json", "--search", "example.org"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ user: { email: "eve@example.org", admin: false }, tokensInUse: 0 });
  expect(json.stdout).not.toContain("argon2");
});

it("user promote, demote, disable and enable change one user, never the last administrator", async () => {
  const cli = makeTestCli();
  await makeDomain(cli);
  const lastOne = {
    exitCode: 1,
    stdout: "",
    stderr: "This is the last administrator: make another user an administrator first.\n",
  };
  expect(await cli.run(about("demote"))).toEqual(lastOne);
  expect(await cli.run(about("disable"))).toEqual(lastOne);
  expect(await cli.run([...about("delete"), "--yes"])).toEqual(lastOne);
  expect((await cli.run(about("promote", "eve@example.org"))).stdout).toBe(
    "User eve@example.org is an administrator.\n",
  );
  expect((await cli.run(about("demote"))).stdout).toBe(`User ${email} is no longer an administrator.\n`);
  expect((await cli.run(about("disable"))).stdout).toBe(`User ${email} is disabled.\n`);
  expect((await cli.run(["user", "list", "--search", "ada"])).stdout).toContain("\tdisabled\t");
  expect((await cli.run(about("enable"))).stdout).toBe(`User ${email} is enabled.\n`);
});

it("user reset-factors is refused for a user without factors", async () => {
  const cli = makeTestCli();
  await makeDomain(cli);
  const run = await cli.run(about("reset-factors"));
  expect(run).toEqual({ exitCode: 1, stdout: "", stderr: "The user has no two-step sign-in.\n" });
});

it("user reset-factors removes them", async () => {
  const cli = makeTestCli();
  await makeDomain(cli);
  await addPasskeyOfEve(cli);
  const { stdout } = await cli.run(about("reset-factors", "eve@example.org"));
  expect(stdout).toBe("User eve@example.org has no two-step sign-in, and is signed out everywhere.\n");
  expect(await withDatabaseOf(cli.dataDir, (db) => countRows(db, "passkeys"))).toBe(0);
});

it("the user gets an email about a new password, removed factors and a new address, which gets one as well", async () => {
  const cli = makeTestCli();
  await makeDomain(cli);
  await addPasskeyOfEve(cli);
  const environment = {
    PWP__MAIL__SMTP_ADDRESS: "mail.example.com",
    PWP__OVERRIDE_BASE_URL: "https://push.example.com",
    PWP__ENABLE_USER_ACCOUNT_EMAILS: "true",
  };
  const eve = (command: string, ...options: readonly string[]) =>
    cli.run([...about(command, "eve@example.org"), ...options], { environment, stdin: "another correct battery" });
  const queued = () => withDatabaseOf(cli.dataDir, (db) => countRows(db, "outbox"));
  for (const [run, emails] of [
    [() => eve("set-password", "--password-stdin"), 1],
    [() => eve("reset-factors"), 2],
    [() => eve("change-email", "--to", "moved@example.org"), 4],
  ] as const) {
    expect((await run()).exitCode).toBe(0);
    expect(await queued()).toBe(emails);
  }
});

it("actions from a shell are recorded in the administrators' audit trail", async () => {
  const cli = makeTestCli();
  await makeDomain(cli);
  for (const command of ["promote", "demote", "disable", "enable"]) await cli.run(about(command, "eve@example.org"));
  await cli.run([...about("set-password", "eve@example.org"), "--password-stdin"], {
    stdin: "another correct battery",
  });
  await cli.run([...about("delete", "eve@example.org"), "--yes"]);
  // Refused, so it adds no entry.
  await cli.run(about("demote"));
  const query = "SELECT action, subject, admin_id, admin_email FROM admin_audit_entries ORDER BY id";
  const lines = (await withDatabaseOf(cli.dataDir, (db) => readRows(db, query))).map((row) => Object.values(row));
  const shell = [null, "shell"];
  expect(lines).toEqual([
    ["created_user", email, ...shell],
    ...["created_user", "made_admin", "removed_admin", "disabled", "enabled", "set_password", "deleted_user"].map(
      (action) => [action, "eve@example.org", ...shell],
    ),
  ]);
});

it("user delete requires --yes, and deletes the account", async () => {
  const cli = makeTestCli();
  await makeDomain(cli);
  const unsure = await cli.run(about("delete", "eve@example.org"));
  expect(unsure).toMatchObject({ exitCode: 1, stdout: "" });
  expect(unsure.stderr).toContain("--yes");
  expect((await cli.run([...about("delete", "eve@example.org"), "--yes"])).exitCode).toBe(0);
  expect((await cli.run(["user", "list"])).stdout).not.toContain("eve@");
});

it.each(["promote", "demote", "disable", "enable", "reset-factors"])(
  "user %s says that there is no such user",
  async (command) => {
    const cli = makeTestCli();
    await makeDomain(cli);
    const run = await cli.run(about(command, "nobody@example.com"));
    expect(run).toEqual({ exitCode: 1, stdout: "", stderr: "There is no user with this email address.\n" });
  },
);

it("user change-email and user confirm change one user", async () => {
  const cli = makeTestCli();
  await makeDomain(cli);
  const change = (to: string) => cli.run([...about("change-email", "eve@example.org"), "--to", to]);
  for (const [to, stderr] of [
    ["nothing", "The new address is not an email address.\n"],
    ["eve@example.org", "The user has this email address already.\n"],
    ["ada@example.com", "Another user has this email address.\n"],
  ] as const) {
    expect(await change(to)).toEqual({ exitCode: 1, stdout: "", stderr });
  }
  expect(await change("moved@example.org")).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/new email address\.\n$/),
  });
  expect((await cli.run(["user", "list"])).stdout).toContain("\tmoved@example.org\tno\tactive\t");
  expect(await cli.run(about("confirm", "moved@example.org"))).toMatchObject({ exitCode: 0 });
});
