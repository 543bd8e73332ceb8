import { expect, it } from "vitest";
import { createUser, email, makeTestCli, password } from "../../test/support/cli.ts";
import { openTestDomain } from "../../test/support/domain.ts";

const signOn = {
  PWP__OVERRIDE_BASE_URL: "https://push.example.com",
  PWP__OIDC__ISSUER: "https://id.example.com",
  PWP__OIDC__CLIENT_ID: "sealpush",
  PWP__OIDC__ALLOWED_DOMAINS: "example.com",
};

it("oidc check says what happens to each account, and changes nothing", async () => {
  const cli = makeTestCli();
  await cli.run([...createUser, "--admin"], { stdin: password });
  for (const address of ["bob@example.com", "eve@example.org", "mia@example.com"]) {
    await cli.run(["user", "create", "--email", address, "--password-stdin"], { stdin: password });
  }
  await cli.run(["token", "create", "--email", email, "--name", "a"]);
  await cli.run(["user", "disable", "--email", "mia@example.com"]);
  // It may be any of the three that is missing.
  expect(
    (await cli.run(["oidc", "check"], { environment: { PWP__OIDC__ISSUER: signOn.PWP__OIDC__ISSUER } })).stderr,
  ).toBe("Single sign-on is off: it needs PWP__OIDC__ISSUER, PWP__OIDC__CLIENT_ID and PWP__OVERRIDE_BASE_URL.\n");
  const checked = await cli.run(["oidc", "check"], { environment: signOn });
  expect(checked).toMatchObject({ exitCode: 0, stderr: "" });
  expect(checked.stdout.trimEnd().split("\n").toSorted()).toEqual([
    "ada@example.com\tasked\tFor its password.",
    "bob@example.com\twill be linked\tNobody has used the account: it is linked without a question.",
    "eve@example.org\trefused\tThe domain of its address is not in PWP__OIDC__ALLOWED_DOMAINS.",
    "mia@example.com\trefused\tThe account is disabled.",
  ]);
});

it("oidc check fails if somebody is locked out, or no administrator can sign in", async () => {
  const cli = makeTestCli();
  await cli.run([...createUser, "--admin"], { stdin: password });
  const elsewhere = { ...signOn, PWP__OIDC__ALLOWED_DOMAINS: "example.org" };
  expect(await cli.run(["oidc", "check"], { environment: elsewhere })).toMatchObject({
    exitCode: 1,
    stderr: "No administrator can sign in.\n",
  });
  await cli.run(["user", "create", "--email", "bob@example.com"], {
    environment: { ...signOn, PWP__OIDC__ONLY: "true" },
  });
  await cli.run(["token", "create", "--email", "bob@example.com", "--name", "a"]);
  const { exitCode, stdout, stderr } = await cli.run(["oidc", "check"], { environment: signOn });
  expect([exitCode, stderr]).toEqual([1, "Locked out: 1.\n"]);
  expect(stdout).toContain("bob@example.com\tlocked out\tIt has no password");
});

it("users relink is for Microsoft Entra ID, and changes nothing without --yes", async () => {
  const cli = makeTestCli();
  await cli.run([...createUser, "--admin"], { stdin: password });
  const other = await cli.run(["users", "relink", "--yes"], { environment: signOn });
  expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Only Microsoft Entra ID") });
  const environment = { ...signOn, PWP__OIDC__ISSUER: "https://login.microsoftonline.com/11111111-2222/v2.0" };
  const dry = await cli.run(["users", "relink"], { environment });
  expect(dry).toMatchObject({ exitCode: 1, stderr: "Nothing was changed: confirm with --yes.\n" });
  const done = await cli.run(["users", "relink", "--yes"], { environment });
  expect(done).toMatchObject({ exitCode: 0, stdout: "Identities that may move: 0.\n" });
  await using fixture = await openTestDomain({ dataDir: cli.dataDir });
  const trail = await fixture.domain.accounts.listAdminEntries(1);
  expect(trail.map(({ action }) => action)).toEqual(["allowed_relinking", "created_user"]);
});
