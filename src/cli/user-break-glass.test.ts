import { expect, it } from "vitest";
import { createUser, email, makeTestCli, password } from "../../test/support/cli.ts";
import { openTestDomain } from "../../test/support/domain.ts";

const only = {
  PWP__OVERRIDE_BASE_URL: "https://push.example.com",
  PWP__OIDC__ISSUER: "https://id.example.com",
  PWP__OIDC__CLIENT_ID: "sealpush",
  PWP__OIDC__ONLY: "true",
};

it("user break-glass prints a link that signs in, for an administrator only", async () => {
  const cli = makeTestCli();
  await cli.run([...createUser, "--admin"], { stdin: password });
  await cli.run(["user", "create", "--email", "eve@example.org", "--password-stdin"], { stdin: password });
  const { exitCode, stdout, stderr } = await cli.run(["user", "break-glass", email], { environment: only });
  expect([exitCode, stderr]).toEqual([0, "This server sends no emails: tell the other administrators yourself.\n"]);
  const [, token = ""] = /^https:\/\/push\.example\.com\/users\/break_glass\?token=([\w-]{43})\n$/.exec(stdout) ?? [];
  const refused = await cli.run(["user", "break-glass", "eve@example.org"]);
  expect(refused).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("no administrator") });
  await using fixture = await openTestDomain({ dataDir: cli.dataDir });
  const { accounts } = fixture.domain;
  const client = { throttleKey: "c", address: "192.0.2.1", userAgent: "test" };
  const entered = await accounts.enterByBreakGlass(token, client);
  expect((await accounts.authenticateSession(entered?.sessionToken ?? ""))?.user.email).toBe(email);
});

it("user create makes accounts without a password where single sign-on is the only way in", async () => {
  const cli = makeTestCli();
  const create = ["user", "create", "--email", email, "--admin"];
  for (const source of ["--mail-link", "--show-password", "--password-stdin"]) {
    const run = await cli.run([...create, source], { environment: only, stdin: password });
    expect(run).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining(`leave out ${source}`) });
  }
  expect((await cli.run(create, { environment: only })).exitCode).toBe(0);
  await using fixture = await openTestDomain({ dataDir: cli.dataDir });
  expect(await fixture.domain.accounts.findUserByEmail(email)).toMatchObject({ hasPassword: false, admin: true });
});
