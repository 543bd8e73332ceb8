import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createUser, email, makeCliUser, makeTestCli, password } from "../../test/support/cli.ts";
import { engine } from "../../test/support/engine.ts";

const createToken = ["token", "create", "--email", email, "--name", "deploy"];

describe("user create", () => {
  it("works on an empty data folder, and creates the database and the master key", async () => {
    const cli = makeTestCli();
    const made = await cli.run([...createUser, "--admin"], { stdin: `${password}\n` });
    expect(made).toMatchObject({ exitCode: 0, stdout: "Created user ada@example.com, an administrator.\n" });
    expect(made.stderr).toContain("master.key");
    expect(statSync(join(cli.dataDir, "master.key")).mode & 0o777).toBe(0o600);
    const second = await cli.run(["user", "create", "--email", "eve@example.com", "--password-stdin"], {
      stdin: password,
    });
    expect(second).toEqual({ exitCode: 0, stdout: "Created user eve@example.com.\n", stderr: "" });
  });

  it("reports everything that is wrong with a user, and never the password", async () => {
    const cli = makeTestCli();
    const run = await cli.run(["user", "create", "--email", "ada", "--password-stdin"], { stdin: "tooshort" });
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(run.stderr).toContain("This is not an email address. A password has 12 to 1024 characters.\n");
    expect(run.stderr).not.toContain("tooshort");
  });

  it("refuses an address that is taken", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    const run = await cli.run(createUser, { stdin: password });
    expect(run).toEqual({ exitCode: 1, stdout: "", stderr: "This email address is taken.\n" });
  });

  it.each([
    ["several lines", "correct horse\nbattery staple\n", "several lines"],
    ["what is not UTF-8", Buffer.from([...Buffer.from(password), 0xff]), "not UTF-8"],
    ["too much", "a".repeat(10_000), "too long"],
  ])("refuses as password: %s", async (_, stdin, reason) => {
    const run = await makeTestCli().run(createUser, { stdin });
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(run.stderr).toContain(reason);
  });
});

describe("token", () => {
  it("create prints only the token; list and revoke identify it by its number", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    const made = await cli.run(createToken);
    expect(made).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^sp_[\w-]{43}\n$/), stderr: "" });

    const list = ["token", "list", "--email", email];
    const [header, row, ...rest] = (await cli.run(list)).stdout.trimEnd().split("\n");
    expect(header).toBe("id\tname\tcreated\tlast used\trevoked\tlast used from\tscopes\texpires\tnetworks");
    expect(row).toMatch(/^1\tdeploy\t\d{4}-\d\d-\d\dT[\d:.]+Z\t-\t-\t-\tcreate read edit expire\t-\t-$/);
    expect(rest).toEqual([]);

    const revoke = ["token", "revoke", "--email", email, "--id", "1"];
    expect(await cli.run(revoke)).toEqual({ exitCode: 0, stdout: "Revoked token 1.\n", stderr: "" });
    expect((await cli.run(list)).stdout).toMatch(/\tdeploy\t\S+\t-\t\d{4}-\S+Z\t-\t/);
    expect(await cli.run(revoke)).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "This user has no token 1 that is in use.\n",
    });
  });

  it("revoke accepts a name, and revokes all active tokens with that name", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    await cli.run(createToken);
    await cli.run(["token", "create", "--email", email, "--name", "other"]);
    await cli.run(createToken);
    const revoke = ["token", "revoke", "--email", email, "--name", "deploy"];
    const run = await cli.run(revoke);
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout.trimEnd().split("\n").sort()).toEqual(["Revoked token 1.", "Revoked token 3."]);
    expect(await cli.run(revoke)).toMatchObject({ exitCode: 1 });
    expect(await cli.run(["token", "revoke", "--email", email])).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it("create limits the scopes, the lifetime and the networks of a token, and list shows them", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    const limits = ["--scope", "expire", "--scope", "create", "--expires-in", "30d", "--network", "10.1.2.3/8"];
    expect(await cli.run([...createToken, ...limits, "--network", "::1"])).toMatchObject({ exitCode: 0, stderr: "" });
    const list = (await cli.run(["token", "list", "--email", email])).stdout.trimEnd().split("\n");
    const [, , created = "", , , , scopes, expires = "", networks] = list[1]?.split("\t") ?? [];
    expect([scopes, networks]).toEqual(["create expire", "10.0.0.0/8 ::1"]);
    expect(Date.parse(expires) - Date.parse(created)).toBe(30 * 86_400_000);
    expect(await cli.run([...createToken, "--expires-in", "3650"])).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ["--scope", "admin", "one of create, read, edit, expire or all"],
    ["--scope", "", "one of create, read, edit, expire or all"],
    ["--expires-in", "0", "from 1 to 3650"],
    ["--expires-in", "3651", "from 1 to 3650"],
    ["--expires-in", "-1", "from 1 to 3650"],
    ["--expires-in", "1.5", "from 1 to 3650"],
    ["--network", "10", "an IP address"],
    ["--network", "10.0.0.0/33", "an IP address"],
  ])("create refuses %s %j and creates no token", async (option, value, said) => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    const run = await cli.run([...createToken, `${option}=${value}`]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain(said);
    expect((await cli.run(["token", "list", "--email", email])).stdout.trimEnd().split("\n")).toHaveLength(1);
  });

  it("is refused for an unknown user", async () => {
    const cli = makeTestCli();
    await makeCliUser(cli);
    for (const words of [["create", "--name", "n"], ["list"], ["revoke", "--id", "1"]]) {
      const run = await cli.run(["token", ...words, "--email", "eve@example.com"]);
      expect(run).toEqual({ exitCode: 1, stdout: "", stderr: "There is no user with this email address.\n" });
    }
  });

  it("needs no master key, and creates no database in a wrong folder", async () => {
    const cli = makeTestCli();
    const run = await cli.run(createToken);
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    const nothing =
      engine === "sqlite" ? `no database at ${join(cli.dataDir, "sealpush.sqlite3")}` : "nothing in the database test_";
    expect(run.stderr).toContain(`There is ${nothing}`);
    expect(run.stderr).toContain(" yet: start the server");
    expect(existsSync(cli.dataDir)).toBe(false);
  });
});
