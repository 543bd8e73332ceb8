import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { newDataDir, node, runProgram, runToItsEnd, spawnProgram } from "../support/processes.ts";
import { compiledOnce, program } from "../support/run/program.ts";
import { startServer } from "../support/server.ts";
import { runAtTerminal } from "../support/terminal.ts";

const email = "ada@example.com";
const password = "correct horse battery";

/** Commands on the data of a running server, each in its own process. */
async function startDomain(more: Readonly<Record<string, string>> = {}) {
  const environment = { DATA_DIR: newDataDir(), ...more };
  const server = await startServer({ dataDir: environment.DATA_DIR, environment: more });
  const run = (argv: readonly string[], stdin = "") =>
    runProgram(argv, { PORT: String(server.port), ...environment }, stdin);
  const made = await run(["user", "create", "--email", email, "--password-stdin"], `${password}\n`);
  expect(made).toEqual({ exitCode: 0, stdout: `Created user ${email}.\n`, stderr: "" });
  return { origin: server.baseUrl, run, environment };
}

async function statusWith(origin: string, token: string): Promise<number> {
  const answer = await fetch(`${origin}/api/v2/pushes/active`, { headers: { authorization: `Bearer ${token}` } });
  await answer.body?.cancel();
  return answer.status;
}

it("a password can be typed at a terminal, where the input does not end after the line", async () => {
  const env = { PATH: process.env.PATH, ...compiledOnce, DATA_DIR: newDataDir() };
  const create = [...node, "--", program, "user", "create", "--email", email, "--password-stdin"];
  const typed = { to: "The password, which this terminal shows: ", type: `${password}\r` };
  const { exitCode, shown } = await runAtTerminal(create, { env }, [typed]);
  expect(shown).toContain(`Created user ${email}.`);
  expect(exitCode).toBe(0);
});

it("what is shown once and cannot be written is said to be lost, with what to do", async () => {
  const { environment, run } = await startDomain();
  const toFullDisk = ["/bin/sh", "-c", 'exec "$@" > /dev/full', "sh"];
  const lost = (argv: string) => runProgram(argv.split(" "), environment, "", toFullDisk);
  const noSpace = "Standard output cannot be written (no space left on device).";
  expect(await lost(`token create --email ${email} --name deploy`)).toMatchObject({
    exitCode: 1,
    stderr: `${noSpace} Nobody has seen the token: end it with "token revoke --email ${email} --id 1".\n`,
  });
  expect(await lost("user create --email b@example.com --show-password")).toMatchObject({
    exitCode: 1,
    stderr: `${noSpace} The user was created. Set another password with "user set-password".\n`,
  });
  expect((await run(["user", "list"])).stdout).toContain("b@example.com");
});

describe("operator commands next to a running server", () => {
  it("create a token that works at once, and revoke it at once", async () => {
    const { origin, run } = await startDomain();
    const made = await run(["token", "create", "--email", email, "--name", "deploy"]);
    expect(made).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^sp_[\w-]{43}\n$/), stderr: "" });
    const token = made.stdout.trim();
    expect(await statusWith(origin, token)).toBe(200);
    const listed = await run(["token", "list", "--email", email]);
    expect(listed.stdout).toMatch(/\n1\tdeploy\t\S+Z\t\S+Z\t-\t127\.0\.0\.1\tcreate read edit expire\t-\t-\n$/);
    expect(listed.stdout).not.toContain(token);
    expect(await run(["token", "revoke", "--email", email, "--id", "1"])).toMatchObject({ exitCode: 0 });
    expect(await statusWith(origin, token)).toBe(401);
  });

  it("all succeed when ten run at once", async () => {
    const { origin, run } = await startDomain();
    const runs = await Promise.all(
      Array.from({ length: 10 }, (_, at) => run(["token", "create", "--email", email, "--name", `token ${at}`])),
    );
    expect(runs.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      Array(10).fill({ exitCode: 0, stderr: "" }),
    );
    const tokens = new Set(runs.map(({ stdout }) => stdout.trim()));
    expect(tokens.size).toBe(10);
    for (const token of tokens) expect(await statusWith(origin, token)).toBe(200);
  });

  it("rotate the master key while a server encrypts with the new one", async () => {
    const [old, fresh] = ["11".repeat(32), "22".repeat(32)];
    const environment = { DATA_DIR: newDataDir() };
    const first = { ...environment, PWPUSH_MASTER_KEY: old };
    await runProgram(["user", "create", "--email", email, "--password-stdin"], first, password);
    const both = { ...environment, PWPUSH_MASTER_KEY: fresh, PWPUSH_MASTER_KEY_PREVIOUS: old };
    const { baseUrl } = await startServer({ dataDir: both.DATA_DIR, environment: both });
    const rotated = await runProgram(["keys", "rotate"], both);
    expect(rotated).toMatchObject({ exitCode: 0, stderr: "" });
    expect(rotated.stdout).toContain("can be removed");
    expect((await fetch(`${baseUrl}/up`)).status).toBe(200);
  });

  it("refuse to rotate while a server has only the old key", async () => {
    const [old, fresh] = ["11".repeat(32), "22".repeat(32)];
    const { environment } = await startDomain({ PWPUSH_MASTER_KEY: old });
    const both = { ...environment, PWPUSH_MASTER_KEY: fresh, PWPUSH_MASTER_KEY_PREVIOUS: old };
    const refused = await runProgram(["keys", "rotate"], both);
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^1 server process\(es\) without the master key /);
  });

  it("report a healthy server and database with doctor", async () => {
    const { origin, run } = await startDomain({ PWP__DISK__FREE_MIN_BYTES: "1" });
    const { exitCode, stdout, stderr } = await run(["doctor"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain(`ok    server: It answers at ${origin}.\n`);
    expect(stdout).toContain("ok    key ring: ");
    // The Node that npm installs may lack the last fixes.
    const warnings = stdout.match(/^(?:warn|fail) .*$/gm)?.filter((line) => !/^warn +node: Node 24\./.test(line));
    expect(warnings ?? []).toEqual([]);
  });

  it("report an error by exit code and one sentence", async () => {
    const environment = { DATA_DIR: newDataDir() };
    const none = await runProgram(["token", "create", "--email", email, "--name", "n"], environment);
    expect(none).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringMatching(/^There is (?:no database at|nothing in the database) .*\.\n$/),
    });
    const wrong = await runProgram(["serve"], { ...environment, PORT: "many" });
    expect(wrong).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringMatching(/^PORT .*\.\n$/) });
    expect(await runProgram(["--help"], environment)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await runProgram(["no-such-command"], environment)).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it("read --env-file themselves, so that Node does not apply it", async () => {
    const folder = newDataDir();
    mkdirSync(folder);
    const file = join(folder, "settings.env");
    writeFileSync(file, "NODE_OPTIONS=--no-such-option-of-node\nPWP__LOG_LEVEL=warn\n");
    const run = (path: string) => {
      const argv = ["run", "-s", "sealpush", "--", "config", "check", "--env-file", path];
      const cwd = resolve(import.meta.dirname, "../..");
      return runToItsEnd(spawn("npm", argv, { cwd, env: { PATH: process.env.PATH, DATA_DIR: folder } }));
    };
    expect(await run(file)).toMatchObject({
      exitCode: 0,
      stderr: "",
      stdout: expect.stringMatching(/^PWP__LOG_LEVEL +used: warn$/m),
    });
    expect(await run(`${file}.none`)).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `${file}.none cannot be read (no such file or folder).\n`,
    });
  });
});

it("a closed output pipe is not a failure and prints no stack trace", async () => {
  const check = spawnProgram(["config", "check"], { DATA_DIR: newDataDir() });
  check.stdout?.destroy();
  let said = "";
  check.stderr?.on("data", (chunk) => {
    said += String(chunk);
  });
  expect([await new Promise((done) => check.on("close", done)), said]).toEqual([0, ""]);
});
