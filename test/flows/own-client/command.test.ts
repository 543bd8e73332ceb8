import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { SealpushClient } from "@sealpush/client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { makeClientProgram, storeLogin } from "../../support/client-program.ts";
import { freePort } from "../../support/free-port.ts";
import { sendJson, startStandIn } from "../../support/stand-in.ts";

let app: TestApp;
let server: string;
let token: string;

beforeAll(async () => {
  app = await startTestApp({
    environment: {
      PWP__THROTTLING__MINUTE: "unlimited",
      PWP__THROTTLING__SECOND: "unlimited",
      PWP__FILES__MAX_FILE_UPLOADS: "12",
    },
  });
  server = await app.listen();
  token = await app.makeToken("ada@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

const signedIn = () => makeClientProgram("here", { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token });
const stranger = () => makeClientProgram("here", { SEALPUSH_SERVER: server });

describe.each(["whole", "client"] as const)("the program: %s", (which) => {
  test("login, push, open, list, audit and end", async () => {
    const program = makeClientProgram(which);
    const login = await program.run(["login", server], { stdin: `${token}\n` });
    expect(login).toEqual({
      exitCode: 0,
      stderr: "",
      stdout: `The token for ${server} is stored in ${program.settings}/config.json.\n`,
    });
    expect(readdirSync(program.settings).toSorted()).toEqual(["config.json"]);
    expect(statSync(join(program.settings, "config.json")).mode & 0o777).toBe(0o600);
    expect(statSync(program.settings).mode & 0o777).toBe(0o700);

    const made = await program.run(["push", "--expire", "1h", "--views", "2", "--name", "for\tAda"], {
      stdin: "correct horse\n",
    });
    expect(made).toEqual({ exitCode: 0, stderr: "", stdout: expect.stringMatching(/^http:\S+\/p\/\w{32}\/r\n$/) });
    const link = made.stdout.trim();
    expect(await makeClientProgram(which).run(["open", link])).toEqual({
      exitCode: 0,
      stdout: "correct horse",
      stderr: "",
    });
    const listed = (await program.run(["list"])).stdout.split("\n");
    expect(listed[0]).toBe("link\tkind\tcreated\texpires\tviews left\tname");
    expect(listed[1]?.split("\t")).toEqual([link, "text", expect.any(String), expect.any(String), "1", "for\ufffdAda"]);
    expect((await program.run(["audit", link])).stdout).toMatch(/^time\tevent.*\n\S+\tcreation\t.*\n\S+\tview\t/);
    expect(await program.run(["end", "-"], { stdin: `${link}\n` })).toEqual({
      exitCode: 0,
      stdout: "The push has ended.\n",
      stderr: "",
    });
    expect(await program.run(["open", link])).toEqual({
      exitCode: 3,
      stdout: "",
      stderr: "This push has ended. Ask its sender for a new one.\n",
    });
    expect((await program.run(["list", "--expired"])).stdout).toContain(link);
    expect((await program.run(["logout"])).stdout).toBe("The token is removed from this machine.\n");
    expect(await program.run(["list"])).toMatchObject({ exitCode: 5, stdout: "" });
  });

  test("edit changes what is named, and keeps the link", async () => {
    const program = makeClientProgram(which, { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token });
    const made = await program.run(["push", "--views", "9"], {
      stdin: "old",
      environment: { SEALPUSH_PASSPHRASE: "one" },
    });
    const link = made.stdout.trim();
    const edit = (options: readonly string[], stdin = "") => program.run(["edit", link, ...options], { stdin });
    expect(await edit([])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "Name what to change, for example --views 5. Nothing was changed.\n",
    });
    expect(await edit(["--secret"], "new")).toEqual({
      exitCode: 4,
      stdout: "",
      stderr: "This push needs a passphrase.\n",
    });
    writeFileSync(join(program.folder, "passphrase"), "one\n");
    const withPassphrase = ["--passphrase-file", join(program.folder, "passphrase")];
    expect(await edit(["--secret", "--views", "5", "--remove-passphrase", ...withPassphrase], "new\n")).toEqual({
      exitCode: 0,
      stdout: "The push was changed. Its link is the same.\n",
      stderr: "",
    });
    expect((await program.run(["open", link])).stdout).toBe("new");
    const named = await program.run(["edit", "-", "--field", "User=ada", "--json"], { stdin: link });
    expect(JSON.parse(named.stdout)).toMatchObject({ html_url: link, expire_after_views: 5, views_remaining: 4 });
    expect((await program.run(["open", link])).stdout).toBe("User: ada");
    for (const both of [
      ["edit", link, "--secret", "--field", "User=ada"],
      ["edit", "-", "--secret"],
      ["edit", "-", "--field", "User=-"],
    ]) {
      expect(await program.run(both, { stdin: "x" })).toMatchObject({ exitCode: 2, stdout: "" });
    }
  });

  test("edit exchanges files and the passphrase", async () => {
    const program = makeClientProgram(which, { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token });
    const write = (name: string, content: string) => {
      writeFileSync(join(program.folder, name), content);
      return join(program.folder, name);
    };
    const made = await program.run(["push", "--views", "9", write("old.txt", "old"), write("kept.txt", "kept")], {
      environment: { SEALPUSH_PASSPHRASE: "one" },
    });
    const link = made.stdout.trim();
    const edit = (options: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
      program.run(["edit", link, ...options], { environment });
    const changed = { exitCode: 0, stdout: "The push was changed. Its link is the same.\n", stderr: "" };

    const files = ["--remove-file", "old.txt", "--add-file", write("new.txt", "new")];
    const passphrases = { SEALPUSH_PASSPHRASE: "one", SEALPUSH_NEW_PASSPHRASE: "two" };
    expect(await edit([...files, "--new-passphrase"], passphrases)).toEqual(changed);
    const opened = await program.run(["open", link, "--json"], { environment: { SEALPUSH_PASSPHRASE: "two" } });
    expect(JSON.parse(opened.stdout)).toMatchObject({ files: [{ filename: "kept.txt" }, { filename: "new.txt" }] });

    const fromFiles = [
      "--passphrase-file",
      write("current", "two\n"),
      "--new-passphrase-file",
      write("next", "three\n"),
    ];
    expect(await edit(fromFiles)).toEqual(changed);
    const withNext = await program.run(["open", link, "--json", "--passphrase-file", join(program.folder, "next")]);
    expect(JSON.parse(withNext.stdout)).toMatchObject({ views_remaining: 7 });

    const unknown = ["--remove-file", "old.txt", "--passphrase-file", join(program.folder, "next")];
    expect(await edit(unknown)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("remove_files must be names of files of this push"),
    });
    expect(await edit(["--add-file", join(program.folder, "missing")])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("does not exist"),
    });
    expect(await edit(["--new-passphrase"])).toEqual({
      exitCode: 4,
      stdout: "",
      stderr: "There is no terminal to ask for the passphrase: set SEALPUSH_NEW_PASSPHRASE or --new-passphrase-file.\n",
    });
    expect(await edit(["--passphrase"], passphrases)).toMatchObject({ exitCode: 2, stdout: "" });
  });

  test("--help and the help of a command name options and exit codes", async () => {
    const program = makeClientProgram(which);
    for (const argv of [
      ["push", "--help"],
      ["help", "push"],
    ]) {
      const help = await program.run(argv);
      expect(help).toMatchObject({ exitCode: 0, stderr: "" });
      expect(help.stdout).toMatch(
        /^Usage: sealpush push \[options\] \[file\.\.\.\]\n[\s\S]*--expire <time>[\s\S]*\nExit codes: 0 done;/,
      );
    }
    expect((await program.run(["--help"])).stdout).toMatch(/\n {2}whoami +Show the server/);
    expect(await program.run(["--version"])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^3\.\d+\.\d+\n$/),
    });
  });
});

describe("push", () => {
  test.each([
    ["one line without its end", "a secret\r\n", "a secret"],
    ["several lines as they are", "a\nb\n", "a\nb\n"],
    ["blanks", "  \n", "  "],
  ])("shares %s", async (_, stdin, payload) => {
    const { stdout } = await stranger().run(["push"], { stdin });
    expect((await stranger().run(["open", stdout.trim()])).stdout).toBe(payload);
  });

  test("shows the sender where that is asked for", async () => {
    const { stdout } = await signedIn().run(["push", "--show-sender"], { stdin: "a secret" });
    const opened = await stranger().run(["open", stdout.trim()]);
    expect(opened).toEqual({ exitCode: 0, stdout: "a secret", stderr: "From ada@example.com.\n" });
    expect(JSON.parse((await stranger().run(["open", stdout.trim(), "--json"])).stdout).sender).toBe("ada@example.com");
    expect((await stranger().run(["push", "--show-sender"], { stdin: "a secret" })).exitCode).toBe(1);
  });

  test("sends files and saves them again, never over others, and only for this user", async () => {
    const program = signedIn();
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    writeFileSync(join(program.folder, "plan.bin"), content);
    writeFileSync(join(program.folder, "note.txt"), "hello");
    const { stdout } = await program.run(["push", "plan.bin", "note.txt"]);
    const opened = await program.run(["open", stdout.trim()]);
    expect(opened).toEqual({ exitCode: 0, stdout: "", stderr: "Saved plan (1).bin.\nSaved note (1).txt.\n" });
    expect(readFileSync(join(program.folder, "plan (1).bin")).equals(content)).toBe(true);
    expect(statSync(join(program.folder, "note (1).txt")).mode & 0o777).toBe(0o600);
  });

  test("sends as many files as the server takes", async () => {
    const program = signedIn();
    const names = Array.from({ length: 13 }, (_, at) => `${at}.txt`);
    for (const name of names) writeFileSync(join(program.folder, name), name);
    const tooMany = await program.run(["push", ...names]);
    expect(tooMany).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringContaining("can't be more than 12"),
    });
    const { stdout } = await program.run(["push", ...names.slice(1)]);
    expect((await program.run(["open", stdout.trim()])).stderr.match(/^Saved /gm)).toHaveLength(12);
  });

  test("sends standard input as a file, and open prints the only file", async () => {
    const program = signedIn();
    const { stdout } = await program.run(["push", "--as", "dump.sql"], { stdin: "select 1;\n" });
    expect(await program.run(["open", stdout.trim(), "--output", "-"])).toEqual({
      exitCode: 0,
      stdout: "select 1;\n",
      stderr: "",
    });
  });

  test("prints JSON without the passphrase that was sent", async () => {
    const program = signedIn();
    writeFileSync(join(program.folder, "passphrase"), "open sesame\n");
    const argv = [
      "push",
      "--json",
      "--passphrase-file",
      "passphrase",
      "--deletable",
      "no",
      "--step",
      "no",
      "--language",
      "de",
    ];
    const { stdout } = await program.run(argv, { stdin: argv[0] === "push" ? "x" : "" });
    expect(stdout).not.toContain("sesame");
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "text",
      deletable_by_viewer: false,
      retrieval_step: false,
      html_url: expect.stringMatching(/\?locale=de$/),
    });
    const { url_token } = JSON.parse(stdout);
    expect(await stranger().run(["open", url_token])).toMatchObject({
      exitCode: 4,
      stderr: "This push needs a passphrase.\n",
    });
    const wrong = await stranger().run(["open", url_token, "-p"], { environment: { SEALPUSH_PASSPHRASE: "guess" } });
    expect(wrong).toMatchObject({ exitCode: 4, stderr: "That passphrase is wrong.\n" });
    const right = await stranger().run(["open", url_token, "--json"], {
      environment: { SEALPUSH_PASSPHRASE: "open sesame" },
    });
    expect(JSON.parse(right.stdout)).toMatchObject({ payload: "x", files: [] });
  });

  test.each([
    [["push"], "", "The secret is empty.\n"],
    [["push", "--expire", "2h"], "x", /^--expire must be 15m, 30m/],
    [["push", "--views", "0"], "x", /^--views must be a whole number from 1/],
    [["push", "--kind", "file"], "x", "--kind must be one of text, url, qr.\n"],
    [["push", "--deletable", "maybe"], "x", "--deletable must be yes or no.\n"],
    [["push", "--expires", "1h"], "x", /^error: Unknown option '--expires'\. See "sealpush push --help"\.\n$/],
    [["push", "--as", "a", "b"], "x", "--as sends standard input: name no files.\n"],
    [["list", "--page", "0"], "", /^--page must be a whole number from 1 to 200/],
    [["audit"], "", "Name the push or the request by its link or its token.\n"],
    [["end", "a", "b"], "", /^error: end takes fewer arguments\. See/],
    [["generate", "--length", "7"], "", /^--length must be a whole number from 8 to 1024/],
    [["completion", "tcsh"], "", /bash, zsh, fish/],
    [["whoami", "--server", "push.example.com"], "", /^The server's address must have the form/],
  ])("refuses %j with exit code 1 or 2 and sends nothing", async (argv, stdin, problem) => {
    const run = await makeClientProgram("here", { SEALPUSH_SERVER: server }).run(argv, { stdin });
    expect(run).toMatchObject({
      stdout: "",
      stderr: typeof problem === "string" ? problem : expect.stringMatching(problem),
    });
    expect([1, 2]).toContain(run.exitCode);
  });

  test("names a file that cannot be read, and what is not UTF-8", async () => {
    const program = signedIn();
    expect(await program.run(["push", "missing.txt"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "missing.txt does not exist. Only files are named here: a text is piped, or asked for.\n",
    });
    expect((await program.run(["push", "."])).stderr).toMatch(/^\. is not a file\. Pack the folder first/);
    const child = program.start(["push", "--views", "1"]);
    child.stdin.end(Buffer.from([0x70, 0xe4]));
    const [[exitCode], said] = await Promise.all([once(child, "close"), textOf(child.stderr)]);
    expect([exitCode, said]).toEqual([1, expect.stringMatching(/^Standard input is not UTF-8\./)]);
  });

  test("warns of a server that keeps the push longer than asked", async () => {
    const standIn = await startStandIn((request, _incoming, response) => {
      response.setHeader("content-type", "application/json");
      if (request.startsWith("GET")) response.end('{"application_version":"1.40","api_version":"2.0"}');
      else response.writeHead(201).end('{"url_token":"abc","html_url":"http://127.0.0.1/p/abc","expire_after_days":7}');
    });
    const run = await makeClientProgram("here").run(["push", "--expire", "1h", "--server", standIn.origin], {
      stdin: "x",
    });
    expect(run).toEqual({
      exitCode: 0,
      stdout: "http://127.0.0.1/p/abc\n",
      stderr: "warning: this server does not know such a limit: the push ends after 7 days.\n",
    });
  });
});

describe("a hostile server", () => {
  /** Clears the screen, sets the title, imitates another line, and turns the reading direction round. */
  const hostile = "\u001b[2J\u001b]0;title\u0007\u009b31m\rtoken: accepted\u202e";
  const answers: Readonly<Record<string, object>> = {
    "GET /api/v2/version": { application_version: hostile, api_version: "2.1", features: {} },
    "GET /api/v2/pushes/active": [{ url_token: "abc", name: hostile, html_url: hostile, kind: hostile }],
    "POST /api/v2/pushes": { url_token: "abc", html_url: hostile, expires_at: hostile, views_remaining: 1 },
    "POST /api/sealpush/requests": { url_token: "abc", html_url: `http://127.0.0.1/${hostile}`, expires_at: hostile },
  };

  test.each([
    ["whoami"],
    ["whoami", "--json"],
    ["push"],
    ["push", "--json"],
    ["request", "A word"],
    ["list"],
    ["list", "--json"],
    ["audit", "abc"],
  ])("cannot write to the terminal through %j", async (...argv) => {
    const standIn = await startStandIn((request, _incoming, response) => {
      const [line = ""] = request.split("?");
      const status = line.startsWith("POST") ? 201 : Object.hasOwn(answers, line) ? 200 : 422;
      sendJson(response, status, answers[line] ?? { payload: [hostile] });
    });
    const environment = { SEALPUSH_SERVER: standIn.origin, SEALPUSH_TOKEN: "t" };
    const { stdout, stderr } = await makeClientProgram("here", environment).run(argv, { stdin: "x" });
    expect(`${stdout}${stderr}`).not.toBe("");
    expect(`${stdout}${stderr}`).not.toMatch(/(?![\t\n])[\p{Cc}\u202e]/u);
  });

  test("keeps its texts as they are in JSON", async () => {
    const standIn = await startStandIn((request, _incoming, response) =>
      sendJson(response, 200, answers[request.split("?")[0] ?? ""] ?? {}),
    );
    const environment = { SEALPUSH_SERVER: standIn.origin, SEALPUSH_TOKEN: "t" };
    const { stdout } = await makeClientProgram("here", environment).run(["whoami", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ application_version: hostile });
  });
});

describe("a passphrase in the environment", () => {
  test("protects a push without an option", async () => {
    const program = signedIn();
    const made = await program.run(["push"], { stdin: "x", environment: { SEALPUSH_PASSPHRASE: "between us" } });
    expect(made).toMatchObject({ exitCode: 0 });
    expect(await program.run(["open", made.stdout.trim()])).toMatchObject({ exitCode: 4 });
    const opened = { environment: { SEALPUSH_PASSPHRASE: "between us" } };
    expect(await program.run(["open", made.stdout.trim()], opened)).toMatchObject({ exitCode: 0, stdout: "x" });
  });
});

describe("open", () => {
  test("gives files of strangers harmless names", async () => {
    const program = signedIn();
    const { stdout } = await program.run(["push", "--as", "../.\u001b[2Jbashrc"], { stdin: "x" });
    const opened = await program.run(["open", stdout.trim()]);
    expect(opened).toMatchObject({ exitCode: 0, stderr: "Saved [2Jbashrc.\n" });
    expect(readdirSync(program.folder)).toEqual(["[2Jbashrc"]);
  });

  test("saves a file whose name is too long for a file system", async () => {
    const program = signedIn();
    const { stdout } = await program.run(["push", "--as", `${"報".repeat(90)}.xlsx`], { stdin: "x" });
    const saved = `${"報".repeat(53)}.xlsx`;
    const opened = await program.run(["open", stdout.trim()]);
    expect(opened).toMatchObject({ exitCode: 0, stderr: `Saved ${saved}.\n` });
    expect(readdirSync(program.folder)).toEqual([saved]);
  });

  test("spends no view if files cannot be saved", async () => {
    const program = signedIn();
    const { stdout } = await program.run(["push", "--as", "a.txt", "--views", "1"], { stdin: "x" });
    const missing = await program.run(["open", stdout.trim(), "--output", "missing"]);
    expect(missing).toMatchObject({ exitCode: 2, stderr: "missing does not exist.\n" });
    expect(await program.run(["open", stdout.trim()])).toMatchObject({ exitCode: 0 });
  });
});

describe("the API token", () => {
  test.each([0o640, 0o604])("is refused from a file that others can read: %i", async (mode) => {
    const program = makeClientProgram("here");
    storeLogin(program, server, token, mode);
    chmodSync(join(program.settings, "config.json"), mode);
    const run = await program.run(["list"]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toBe(
      `${program.settings}/config.json is open to other users (mode ${mode.toString(8)}): run "chmod 600 ${program.settings}/config.json".\n`,
    );
  });

  test.each([
    ["readable by others", 0o644, undefined],
    ["damaged", 0o600, "{"],
  ])("is removed by logout from a file that is %s", async (_, mode, content) => {
    const program = makeClientProgram("here");
    storeLogin(program, server, token, mode);
    const file = join(program.settings, "config.json");
    if (content !== undefined) writeFileSync(file, content);
    chmodSync(file, mode);
    const run = await program.run(["logout"]);
    expect(run).toEqual({ exitCode: 0, stdout: "The token is removed from this machine.\n", stderr: "" });
    expect(existsSync(file)).toBe(false);
  });

  test("is not stored if the server refuses it, and is not repeated", async () => {
    const program = makeClientProgram("here");
    const run = await program.run(["login", server], { stdin: "sp_wrong\n" });
    expect(run).toEqual({
      exitCode: 5,
      stdout: "",
      stderr: `${server} does not accept this token. Nothing was stored.\n`,
    });
    expect(existsSync(program.settings)).toBe(false);
  });

  test.each(["\n", "  \n"])("is missing in the input %j of login", async (stdin) => {
    const run = await makeClientProgram("here").run(["login", server], { stdin });
    expect(run).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringMatching(/API token.*\.\n$/) });
  });

  test.each([
    ["/proc", "/proc/.config does not exist."],
    ["/dev/null", "/dev/null/.config cannot be used (not a folder)."],
  ])("cannot be stored in the home folder %s", async (home, problem) => {
    const program = makeClientProgram("here", { HOME: home, XDG_CONFIG_HOME: "" });
    expect(await program.run(["login", server], { stdin: `${token}\n` })).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `The token was not stored: ${problem} Set XDG_CONFIG_HOME to another folder, or use SEALPUSH_SERVER and SEALPUSH_TOKEN.\n`,
    });
    expect(await program.run(["push", "--server", server], { stdin: "x" })).toMatchObject({ exitCode: 0 });
  });

  test("reaches only its own server", async () => {
    const seen: (string | undefined)[] = [];
    const other = await startStandIn((_request, { headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
    });
    const stored = makeClientProgram("here");
    storeLogin(stored, server, token);
    expect((await stored.run(["whoami", "--json"])).stdout).toContain('"token": "valid"');
    for (const argv of [
      ["open", `${other.origin}/p/abc`],
      ["list", "--server", other.origin],
    ]) {
      expect(await stored.run(argv)).not.toMatchObject({ exitCode: 0 });
    }
    expect(await signedIn().run(["end", `${other.origin}/p/abc`])).toMatchObject({ exitCode: 3 });
    expect(seen.length).toBeGreaterThan(3);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  test("goes to no other server if another one is logged in to meanwhile", async () => {
    const seen = { first: new Set<unknown>(), second: new Set<unknown>() };
    const startServer = (name: keyof typeof seen) =>
      startStandIn((request, { headers }, response) => {
        seen[name].add(headers.authorization);
        const version = { application_version: "3.0.0", api_version: "2.1" };
        if (request === "GET /api/v2/version") sendJson(response, 200, version);
        else sendJson(response, 403, {});
      });
    const [first, second] = [await startServer("first"), await startServer("second")];
    const program = makeClientProgram("client");
    const interrupted = {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(loginBetweenFiles)}`,
      OTHER_SERVER: second.origin,
    };
    expect(await program.run(["login", first.origin], { stdin: "of-first\n", environment: interrupted })).toMatchObject(
      {
        exitCode: 0,
      },
    );
    await program.run(["whoami"]);
    await program.run(["login", first.origin], { stdin: "of-first\n" });
    await program.run(["whoami"], { environment: interrupted });
    expect((await program.run(["whoami"])).stdout).toContain(`server: ${second.origin}`);
    expect(seen.first).toEqual(new Set(["Bearer of-first"]));
    expect(seen.second).toEqual(new Set(["Bearer of-second"]));
  });
});

/** Before a file of the settings is opened, and after one is replaced, a login to another server runs from start to end. */
const loginBetweenFiles = `
  import { spawnSync } from "node:child_process";
  import fs from "node:fs/promises";
  import { syncBuiltinESMExports } from "node:module";
  const { NODE_OPTIONS, OTHER_SERVER, ...env } = process.env;
  const login = () => {
    spawnSync(process.execPath, [process.argv[1], "login", OTHER_SERVER], { input: "of-second\\n", env });
  };
  const { open, rename } = fs;
  fs.open = (path, ...rest) => {
    if (path.includes("config/sealpush/")) login();
    return open(path, ...rest);
  };
  fs.rename = async (...paths) => {
    await rename(...paths);
    login();
  };
  syncBuiltinESMExports();`;

describe("what fails is said in a sentence, with its exit code:", () => {
  test("standard output that is full or was closed", async () => {
    const program = signedIn();
    writeFileSync(join(program.folder, "a.bin"), Buffer.alloc(3_000_000));
    const link = (await program.run(["push", "a.bin"])).stdout.trim();
    const text = (await program.run(["push"], { stdin: "x" })).stdout.trim();
    const refusals = [
      [["list"], ""],
      [["generate"], ""],
      [["--help"], ""],
      [["open", link, "--output", "-"], ""],
      [["push"], " The push was created, and its link is lost."],
      [["push", "--json"], " The push was created, and its link is lost."],
      [["open", text], " The view is spent, so what was not written is lost."],
      [["open", text, "--json"], " The view is spent, so what was not written is lost."],
    ] as const;
    for (const [argv, lost] of refusals) {
      expect(await program.run(argv, { stdin: "x", stdoutFile: "/dev/full" })).toMatchObject({
        exitCode: 1,
        stderr: `Standard output cannot be written (no space left on device).${lost}\n`,
      });
    }
    const child = program.start(["open", link, "--output", "-"]);
    child.stdout.once("data", () => child.stdout.destroy());
    const [[exitCode], said] = await Promise.all([once(child, "close"), textOf(child.stderr)]);
    expect([exitCode, said]).toEqual([1, "Standard output was closed before everything was written.\n"]);
    const closed = program.start(["open", text]);
    closed.stdout.destroy();
    const [[closedCode], saidOfView] = await Promise.all([once(closed, "close"), textOf(closed.stderr)]);
    expect([closedCode, saidOfView]).toEqual([
      1,
      "Standard output was closed before everything was written. The view is spent, so what was not written is lost.\n",
    ]);
  });

  test.each([
    [["open", "not a link"], 2, "This is neither a link of a push or a request nor a token of one."],
    [["open"], 2, "Name the push or the request by its link or its token."],
    [["list", "--server", "ftp://example.com"], 2, "The server's address must have the form https://push.example.com."],
    [["login", "example"], 2, "The server's address must have the form https://push.example.com."],
    [["login", "http://127.0.0.1:9"], 2, "Standard input is empty: it must be the API token on a single line."],
    [["audit", "unknown"], 3, "The server answered 404: there is no such push or request, or it is not yours."],
    [["push", "."], 2, ". is not a file. Pack the folder first, for example with tar or zip."],
    [["push", "missing"], 2, "missing does not exist. Only files are named here: a text is piped, or asked for."],
    [["open", "unknown", "--passphrase-file", "/"], 2, "/ is a folder."],
  ])("%j", async (argv, exitCode, sentence) => {
    expect(await signedIn().run(argv)).toEqual({ exitCode, stdout: "", stderr: `${sentence}\n` });
  });

  test("a server without TLS, also if only the link names it", async () => {
    const away = `http://0.0.0.0:${await freePort()}`;
    for (const argv of [
      ["list", "--server", away],
      ["open", `${away}/p/abc`],
    ]) {
      const { exitCode, stderr } = await signedIn().run(argv);
      expect([exitCode, stderr.split("\n")[0]]).toEqual([
        6,
        `warning: ${away} is used without TLS: everybody on the way can read secrets and tokens.`,
      ]);
    }
  });

  test("a file that cannot be read to its end is not saved, and the text is kept", async () => {
    const other = await startStandIn((request, { headers }, response) => {
      if (request === "GET /api/v2/version")
        return sendJson(response, 200, { application_version: "3.0.0", api_version: "2.1" });
      if (request === "GET /api/v2/pushes/abc") {
        const files = [{ filename: "a.bin", content_type: "", url: `${other.origin}/file` }];
        return sendJson(response, 200, { url_token: "abc", payload: "see the file", files });
      }
      if (request !== "GET /file") return sendJson(response, 404, {});
      if (headers.range !== undefined) return void response.destroy();
      response.writeHead(200, { "content-length": 1_000 }).write("half", () => response.destroy());
    });
    const program = makeClientProgram("here", { SEALPUSH_SERVER: other.origin });
    const run = await program.run(["open", "abc"]);
    expect(run).toMatchObject({ exitCode: 1, stdout: "see the file" });
    expect(run.stderr).toMatch(/^a\.bin was not saved: /);
    expect(readdirSync(program.folder)).toEqual([]);
  });

  test("a push of somebody else", async () => {
    const { url_token } = await new SealpushClient({ server }).create({ payload: "x" });
    expect(await signedIn().run(["audit", url_token])).toMatchObject({ exitCode: 5, stdout: "" });
  });

  test("a folder that is none is noticed before a view is spent", async () => {
    const program = signedIn();
    writeFileSync(join(program.folder, "a.txt"), "a");
    const link = (await program.run(["push", "--views", "1", "a.txt"])).stdout.trim();
    expect(await program.run(["open", link, "--output", "a.txt"])).toMatchObject({
      exitCode: 2,
      stderr: "a.txt is not a folder.\n",
    });
    expect(await program.run(["open", link])).toMatchObject({ exitCode: 0, stderr: "Saved a (1).txt.\n" });
  });

  test("a message beside the file that is printed is shown, because the view is spent", async () => {
    const files = [{ filename: "a.txt", content: new Blob(["content"]) }];
    const made = await new SealpushClient({ server, token }).create({ payload: "see the file", files });
    expect(await signedIn().run(["open", made.html_url, "--output", "-"])).toEqual({
      exitCode: 0,
      stdout: "content",
      stderr: "see the file\n",
    });
  });

  test.each(["open", "push"])("an interruption in the middle of a file: %s", async (verb) => {
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
    const other = await startStandIn((request, _incoming, response) => {
      if (request === "GET /api/v2/version") return sendJson(response, 200, { api_version: "2.1" });
      if (request === "GET /api/v2/pushes/abc") {
        const files = [{ filename: "a.bin", content_type: "", url: `${other.origin}/file` }];
        return sendJson(response, 200, { url_token: "abc", payload: null, files });
      }
      if (request === "GET /file" || request.startsWith("POST")) return hold();
      return sendJson(response, 404, {});
    });
    const program = makeClientProgram("here", { SEALPUSH_SERVER: other.origin });
    mkdirSync(join(program.folder, "saved"));
    writeFileSync(join(program.folder, "b.bin"), Buffer.alloc(1_000));
    const child = program.start(verb === "open" ? ["open", "abc", "--output", "saved"] : ["push", "b.bin"]);
    await isHeld;
    child.kill("SIGINT");
    const [[exitCode], said] = await Promise.all([once(child, "close"), textOf(child.stderr)]);
    expect([exitCode, said]).toEqual([1, "Interrupted (SIGINT).\n"]);
    expect(readdirSync(join(program.folder, "saved"))).toEqual([]);
  });
});

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

test("a server that is away is exit code 6, and no server at all is 2", async () => {
  const away = await makeClientProgram("here").run(["open", `http://127.0.0.1:${await freePort()}/p/abc`]);
  expect(away).toMatchObject({
    exitCode: 6,
    stderr: expect.stringMatching(/cannot be reached \(connection refused\)\.\n$/),
  });
  expect(await makeClientProgram("here").run(["list"])).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: 'No server is configured: run "sealpush login", or set SEALPUSH_SERVER.\n',
  });
});

test.each([
  ["push", [], "The push may exist all the same."],
  ["request", ["Root password"], "The request may exist all the same."],
  ["edit", ["abc", "--views", "5"], "The push may have been changed all the same."],
])("%s says that it may have been done where the answer of a proxy is all there is", async (verb, more, said) => {
  const proxy = await startStandIn((request, _incoming, response) => {
    if (request.startsWith("GET")) sendJson(response, 200, { api_version: "2.1", application_version: "3.0.0" });
    else response.writeHead(502).end("Bad gateway");
  });
  const program = makeClientProgram("here", { SEALPUSH_SERVER: proxy.origin, SEALPUSH_TOKEN: "token" });
  const run = await program.run([verb, ...more], { stdin: "secret" });
  expect(run).toMatchObject({ exitCode: 6, stderr: expect.stringContaining(said) });
  const refused = await makeClientProgram("here", {
    SEALPUSH_SERVER: `http://127.0.0.1:${await freePort()}`,
    SEALPUSH_TOKEN: "token",
  }).run([verb, ...more], { stdin: "secret" });
  expect(refused).toMatchObject({ exitCode: 6, stderr: expect.not.stringContaining(said) });
});

describe("a server that does not answer as this API is named in words", () => {
  const forbid = () => startStandIn((_request, _message, response) => void response.writeHead(403).end("Forbidden"));

  test("over HTTP", async () => {
    const run = (argv: string, origin: string) =>
      makeClientProgram("here", { SEALPUSH_TOKEN: "unknown" }).run([argv, "--server", origin]);
    const hangUp = (await startStandIn((_request, _message, response) => void response.destroy())).origin;
    expect(await run("list", hangUp)).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining("cannot be reached (the connection was closed without an answer).\n"),
    });
    expect(await run("whoami", hangUp.replace("http:", "https:"))).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(/ cannot be reached \([a-z ]+\)\.\n$/i),
    });
    expect(await run("list", (await forbid()).origin)).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining("The server answered 403. It gave no reason, so a proxy or another program may"),
    });
    expect(await run("list", server)).toMatchObject({
      exitCode: 5,
      stderr: expect.stringMatching(/^The server answered 401: That API token is not valid\. Make an API token at /),
    });
  });

  test("over TLS, with a certificate that nobody trusts", async () => {
    const { key, certificate } = makeCertificate();
    const secure = createServer({ key, cert: certificate }).listen(0, "127.0.0.1");
    onTestFinished(() => void secure.close());
    await once(secure, "listening");
    const address = secure.address();
    const port = typeof address === "object" ? address?.port : undefined;
    expect(await makeClientProgram("here").run(["open", `https://127.0.0.1:${port}/p/abc`])).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(/\(its certificate is not signed by an authority that is trusted here; NODE_EXTRA/),
    });
  });

  test("a token is not stored for it", async () => {
    const program = makeClientProgram("here");
    const run = await program.run(["login", (await forbid()).origin], { stdin: "token" });
    expect(run).toMatchObject({ exitCode: 5, stdout: "" });
    expect(existsSync(program.settings)).toBe(false);
  });
});

test("a token with characters that no token has is a wrong setting, which is named", async () => {
  const program = makeClientProgram("here", { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: "two words" });
  expect(await program.run(["list"])).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: "SEALPUSH_TOKEN has characters that no API token has.\n",
  });
});

test("a password is generated", async () => {
  const program = makeClientProgram("here");
  expect((await program.run(["generate"])).stdout).toMatch(/^\S{20}\n$/);
  expect((await program.run(["generate", "--length", "40", "--no-symbols"])).stdout).toMatch(/^[A-Za-z2-9]{40}\n$/);
});

describe("at a terminal", () => {
  test("the secret and the passphrase are asked for and not shown, also several pasted lines", async () => {
    const program = stranger();
    const made = await program.runAtTerminal(
      ["push", "--passphrase"],
      [
        { to: "Secret: ", type: "\u001b[200~first line\rsecond line\u001b[201~\r" },
        { to: "Passphrase: ", type: "open sesamx\u007fe\r" },
      ],
    );
    expect(made.exitCode).toBe(0);
    expect(made.shown).not.toMatch(/first|second|sesam/);
    expect(made.shown).toMatch(/It can be opened 5 times until /);
    const [link = ""] = /http:\S+/.exec(made.shown) ?? [];
    const opened = await program.runAtTerminal(
      ["open", link],
      [
        { to: "Passphrase: ", type: "wrong\r" },
        { to: "Passphrase: ", type: "open sesame\r" },
      ],
    );
    expect(opened.shown).toMatch(/That passphrase is wrong\.\r\n.*Passphrase: [\s\S]*first line\r\nsecond line\r\n$/);
    expect(opened.exitCode).toBe(0);
  });

  test("control characters of a secret do not reach it", async () => {
    const program = stranger();
    const { stdout } = await program.run(["push"], { stdin: "\u001b]0;title\u0007red\u001b[31m\nnext" });
    const opened = await program.runAtTerminal(["open", stdout.trim()], []);
    expect(opened.shown).not.toContain("\u001b]0;");
    expect(opened.shown).toContain("\ufffd]0;title\ufffdred\ufffd[31m\r\nnext\r\n");
    expect(opened.shown).toContain("The text has control characters");
    expect((await program.run(["open", stdout.trim()])).stdout).toBe("\u001b]0;title\u0007red\u001b[31m\nnext");
  });

  test("an interruption ends the question and leaves the terminal as it was", async () => {
    const run = await stranger().runAtTerminal(["push"], [{ to: "Secret: ", type: "half\u0003" }]);
    expect(run.exitCode).toBe(1);
    expect(run.shown.endsWith("\u001b[?2004l\r\nInterrupted.\r\n")).toBe(true);
  });

  test("login asks for the address and the token", async () => {
    const program = makeClientProgram("here");
    const run = await program.runAtTerminal(
      ["login"],
      [
        { to: "push.example.com: ", type: `${server}/\r` },
        { to: "/users/token: ", type: `${token}\r` },
      ],
    );
    expect(run.shown).not.toContain(token);
    expect(run.exitCode).toBe(0);
    expect(await program.run(["list"])).toMatchObject({ exitCode: 0 });
  });

  test("login says that no token was entered", async () => {
    const run = await stranger().runAtTerminal(["login", server], [{ to: "/users/token: ", type: "\r" }]);
    expect(run).toMatchObject({ exitCode: 2, shown: expect.stringContaining("No API token was entered.") });
  });

  test("the progress of files is shown, and only there", async () => {
    const program = signedIn();
    writeFileSync(join(program.folder, "a.bin"), Buffer.alloc(200_000));
    const made = await program.runAtTerminal(["push", "a.bin"], []);
    expect(made.shown).toContain("Sending: 100 % of 200.0 kB");
    const [link = ""] = /http:\S+/.exec(made.shown) ?? [];
    expect((await program.runAtTerminal(["open", link], [])).shown).toContain("a.bin: 200.0 kB");
  });
});

describe("the rules of a server", () => {
  const rules = { PWP__POLICY__PASSPHRASE_REQUIRED: "true", PWP__POLICY__PASSPHRASE_MIN_LENGTH: "12" };

  test("are read before anything is asked for at a terminal", async () => {
    await using strict = await startTestApp({
      environment: {
        ...rules,
        PWP__POLICY__MAX_MINUTES: "60",
        PWP__POLICY__MAX_VIEWS: "2",
        PWP__POLICY__KINDS: "text",
      },
    });
    const program = makeClientProgram("here", { SEALPUSH_SERVER: await strict.listen() });
    const refused = await program.runAtTerminal(["push", "--expire", "1d", "--views", "3", "--kind", "url"], []);
    expect(refused.exitCode).not.toBe(0);
    for (const sentence of [
      "do not allow url pushes.",
      "require a passphrase.",
      "allow a life of at most 60 minutes.",
      "allow at most 2 views.",
    ]) {
      expect(refused.shown).toContain(sentence);
    }
    expect(refused.shown).not.toContain("Secret:");
    const short = await program.runAtTerminal(
      ["push", "--passphrase"],
      [
        { to: "Secret: ", type: "the secret\r" },
        { to: "Passphrase: ", type: "too short\r" },
      ],
    );
    expect(short.shown).toContain("require a passphrase of at least 12 characters. Nothing was sent.");
  });

  test("for a passphrase hold end to end, where only the command can check them", async () => {
    await using strict = await startTestApp({ environment: rules });
    const program = makeClientProgram("here", { SEALPUSH_SERVER: await strict.listen() });
    const push = (passphrase: string) => {
      const environment = { SEALPUSH_PASSPHRASE: passphrase };
      return program.run(["push", "--e2e"], { stdin: "the secret", environment });
    };
    expect((await push("")).stderr).toContain("require a passphrase.");
    expect((await push("too short")).stderr).toContain("at least 12 characters");
    expect((await push("long enough words")).exitCode).toBe(0);
  });
});
