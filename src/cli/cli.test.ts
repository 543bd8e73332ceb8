import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { email, makeTestCli, password } from "../../test/support/cli.ts";

const createToken = ["token", "create", "--email", email, "--name", "deploy"];

const commands = [
  ["serve"],
  ["user", "create"],
  ["token", "create"],
  ["token", "list"],
  ["token", "revoke"],
  ["keys", "generate"],
  ["keys", "rotate"],
  ["mail", "test"],
  ["config", "check"],
  ["doctor"],
];

it("a HOST whose name cannot be resolved is named", async () => {
  const lookup = { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: "push.invalid" };
  const serve = () => Promise.reject(Object.assign(new Error("getaddrinfo ENOTFOUND push.invalid"), lookup));
  expect(await makeTestCli({ serve }).run(["serve"])).toMatchObject({
    exitCode: 1,
    stderr:
      "The server cannot listen on push.invalid (its name cannot be resolved): check HOST and PWP__PUBLIC_GATEWAY_HOST.\n",
  });
});

describe("the command line", () => {
  it.each(commands.map((command) => [command.join(" "), command] as const))("explains %s", async (name, command) => {
    const help = await makeTestCli().run([...command, "--help"]);
    expect(help).toMatchObject({ exitCode: 0, stderr: "" });
    expect(help.stdout).toContain(`Usage: sealpush ${name} `);
    expect(help.stdout).toContain("Exit codes:");
  });

  it("prints its version and lists its commands", async () => {
    const cli = makeTestCli();
    expect(await cli.run(["--version"])).toEqual({ exitCode: 0, stdout: "1.2.3\n", stderr: "" });
    const help = await cli.run(["--help"]);
    for (const [first] of commands) expect(help.stdout).toContain(`  ${first}`);
  });

  it.each([
    [["psuh"], "push"],
    [["serv"], "serve"],
    [["usr", "create"], "user"],
    [["user", "creat"], "create"],
  ])("names a similar command, for people or for operators: %j", async (argv, meant) => {
    const { exitCode, stderr } = await makeTestCli().run(argv);
    expect([exitCode, stderr.match(/Did you mean (\w+)\?/)?.[1]]).toEqual([2, meant]);
  });

  it("says that help is asked for about a command that is unknown", async () => {
    const { exitCode, stderr } = await makeTestCli().run(["help", "usr"]);
    expect([exitCode, stderr.split("\n").slice(-3)]).toEqual([
      2,
      ["error: unknown command 'usr'", "Did you mean user?", ""],
    ]);
  });

  it("names none if no command is similar", async () => {
    expect((await makeTestCli().run(["xylophone"])).stderr).toBe("error: unknown command 'xylophone'\n");
    // What was typed may be pasted from elsewhere, and must not change the terminal.
    expect((await makeTestCli().run(["\u001b[31mxylophone"])).stderr).not.toContain("\u001b");
    expect((await makeTestCli().run(["config", "convert", "/\u001b[31m/none"])).stderr).not.toContain("\u001b");
  });

  it.each([
    ["an unknown command", ["usr", "create"]],
    ["an unknown option", ["doctor", "--fast"]],
    ["a missing option", ["token", "create", "--email", email]],
    ["an unexpected argument", ["keys", "generate", "two"]],
    ["a group without a command", ["user"]],
    ["an invalid number", ["token", "revoke", "--email", email, "--id", "1.5"]],
    ["the number 0", ["token", "revoke", "--email", email, "--id", "0"]],
    ["a password on the command line", ["user", "create", "--email", email, "--password", "secret"]],
  ])("exits with 2 and a message on stderr for %s", async (_, argv) => {
    const cli = makeTestCli();
    const run = await cli.run(argv);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).not.toBe("");
    expect(existsSync(cli.dataDir)).toBe(false);
  });

  it.each([["serve"], ["user", "create", "--email", email, "--password-stdin"], createToken, ["doctor"]])(
    "answers wrong settings with 2 and every mistake: %s",
    async (...argv) => {
      const cli = makeTestCli();
      const run = await cli.run(argv, {
        stdin: password,
        environment: { PORT: "many", PWP__ALLOW_ANONYMOUS: "perhaps" },
      });
      expect(run).toMatchObject({ exitCode: 2, stdout: "" });
      expect(run.stderr).toContain("PORT");
      expect(run.stderr).toContain("PWP__ALLOW_ANONYMOUS");
      expect(existsSync(cli.dataDir)).toBe(false);
    },
  );
});

describe("move", () => {
  const somewhere = "sqlite:elsewhere.sqlite3";
  it.each([
    [["--from", "x", "--to", somewhere], 2, /^--from cannot be used: /],
    [["--from", somewhere, "--to", "x"], 2, /^--to cannot be used: /],
    [["--reopen", "x"], 2, /^--reopen cannot be used: /],
    [["--from", somewhere, "--to", "postgres://a@127.0.0.1:1/b"], 1, /or check --from\.\n$/],
  ])("names the option with a wrong address: %j", async (options, exitCode, problem) => {
    const run = await makeTestCli().run(["move", ...options]);
    expect(run).toMatchObject({ exitCode, stdout: "", stderr: expect.stringMatching(problem) });
    expect(run.stderr).not.toContain("DATABASE_URL");
  });
});

describe("serve", () => {
  it.each([[[]], [["serve"]]])("starts the server with the settings, with these arguments: %j", async (argv) => {
    const started: unknown[] = [];
    const cli = makeTestCli({
      serve: async (config, warnings) => {
        started.push(config.port, warnings.length);
        return 3;
      },
    });
    const run = await cli.run(argv, { environment: { PORT: "6000", PWP__ENABLE_FILE_PUSHS: "true" } });
    expect(run.exitCode).toBe(3);
    expect(started).toEqual([6000, 1]);
  });
});
