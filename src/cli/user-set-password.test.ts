import { expect, it } from "vitest";
import { createUser, email, makeTestCli, password } from "../../test/support/cli.ts";

const setPassword = ["user", "set-password", "--email", email, "--password-stdin"];

it("user set-password changes the password, and does not repeat it", async () => {
  const cli = makeTestCli();
  await cli.run(createUser, { stdin: password });
  const run = await cli.run(setPassword, { stdin: "another correct battery\n" });
  expect(run).toEqual({
    exitCode: 0,
    stdout: `User ${email} has a new password and no valid API token, and is signed out everywhere.\n`,
    stderr: "",
  });
});

it("user set-password revokes the user's API tokens", async () => {
  const cli = makeTestCli();
  await cli.run(createUser, { stdin: password });
  await cli.run(["token", "create", "--email", email, "--name", "deploy"]);
  const list = () => cli.run(["token", "list", "--email", email]);
  const revokedAt = async () => (await list()).stdout.split("\n")[1]?.split("\t")[4];
  expect(await revokedAt()).toBe("-");
  await cli.run(setPassword, { stdin: "another correct battery" });
  expect(await revokedAt()).toMatch(/^2/);
});

it.each([
  ["too short", "short", "A password has 12 to 1024 characters.\n"],
  ["common", "password1234", "This password is one of those that attackers try first.\n"],
  ["the email address", "ada@example.com", "This password is made from the email address.\n"],
])("user set-password refuses a password that is %s, and does not repeat it", async (_, stdin, stderr) => {
  const cli = makeTestCli();
  await cli.run(createUser, { stdin: password });
  expect(await cli.run(setPassword, { stdin })).toEqual({ exitCode: 1, stdout: "", stderr });
});

it("user set-password reports an unknown user", async () => {
  const cli = makeTestCli();
  await cli.run(createUser, { stdin: password });
  const run = await cli.run(["user", "set-password", "--email", "eve@example.com", "--password-stdin"], {
    stdin: password,
  });
  expect(run).toMatchObject({ exitCode: 1, stderr: "There is no user with this email address.\n" });
});
