import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { oneTimeCode } from "@sealpush/age/one-time-code";
import { SealpushClient } from "@sealpush/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { makeClientProgram } from "../../support/client-program.ts";
import { sendJson, startStandIn } from "../../support/stand-in.ts";

let app: TestApp;
let server: string;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  server = await app.listen();
  token = await app.makeToken("ada@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

const fields = [
  { label: "User", value: "ada", type: "text" },
  { label: "Password", value: "correct horse", type: "secret" },
] as const;
const text = "User: ada\nPassword: correct horse";

async function* once(content: string) {
  yield Buffer.from(content);
}

test.each([false, true])("fields are sent and retrieved, end to end: %j", async (endToEnd) => {
  const client = new SealpushClient({ server, token });
  const made = await client.create({ fields }, { endToEnd });
  expect(await client.retrieve(made.html_url)).toMatchObject({ payload: text, fields });
  const file = { filename: "a.txt", content: () => once("in a"), sizeBytes: 4 };
  const withFile = await client.create({ fields, files: [file] }, { endToEnd });
  expect(await client.retrieve(withFile.html_url)).toMatchObject({
    payload: text,
    fields,
    files: [{ filename: "a.txt" }],
  });
});

test("end to end the server sees no label, and invalid fields are refused before anything is sent", async () => {
  const sent: string[] = [];
  const client = new SealpushClient({
    server,
    token,
    fetch: async (input, init) => {
      sent.push(await new Request(input, init).text());
      return await fetch(input, init);
    },
  });
  const made = await client.create({ fields }, { endToEnd: true });
  for (const private_ of ["User", "Password", "correct horse"]) expect(sent.join()).not.toContain(private_);
  expect(made).not.toHaveProperty("fields");
  const before = sent.length;
  const twice = { fields: [fields[0], { ...fields[1], label: "USER" }] };
  await expect(client.create(twice, { endToEnd: true })).rejects.toThrow("Field 2 is not valid (label twice).");
  await expect(client.create({ fields, payload: "x" }, { endToEnd: true })).rejects.toThrow("not both");
  expect(sent.slice(before).join("")).toBe("");
});

test("a push whose server ignored the fields is ended", async () => {
  const old = await startStandIn((request, _incoming, response) => {
    if (request.endsWith("/version")) return sendJson(response, 200, { api_version: "2.1" });
    return sendJson(response, request.startsWith("POST") ? 201 : 200, { url_token: "abc" });
  });
  const client = new SealpushClient({ server: old.origin });
  const files = [{ filename: "a.txt", content: () => once("in a") }];
  await expect(client.create({ fields, files })).rejects.toThrow("does not know fields");
  expect(old.requests.at(-1)).toBe("DELETE /api/v2/pushes/abc");
});

describe("the command", () => {
  const seed = "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP";
  const signedIn = () => makeClientProgram("here", { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token });
  const codesNow = () => [Date.now() - 30_000, Date.now()].map((at) => oneTimeCode(seed, at)?.code);

  test.each([[], ["--e2e"]])("push --field and open --field, --otp: %j", async (...e2e) => {
    const program = signedIn();
    const argv = ["--field", "User=ada", "--field", "pass:word:secret=-", "--field", `Code:otp=${seed}`, ...e2e];
    const pushed = await program.run(["push", ...argv], { stdin: "correct horse\n" });
    expect(pushed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("other users of this machine") });
    const link = pushed.stdout.trim();
    expect(await program.run(["open", link])).toMatchObject({
      exitCode: 0,
      stdout: `User: ada\npass:word: correct horse\nCode: ${seed}`,
    });
    expect(await program.run(["open", link, "--field", "PASS:WORD"])).toMatchObject({
      exitCode: 0,
      stdout: "correct horse",
      stderr: "",
    });
    const code = await program.run(["open", link, "--otp"]);
    expect(codesNow()).toContain(code.stdout);
    const json = JSON.parse((await program.run(["open", link, "--json"])).stdout);
    expect(json.fields.at(-1)).toEqual({ label: "Code", value: seed, type: "otp" });
  });

  test.each<[string[], string]>([
    [["--field", "Pin"], "There is no such field. Its fields: User (text), Password (secret)."],
    [["--otp"], "There is no such field. Its fields:"],
    [["--otp", "--field", "User"], "That field has no one-time code."],
  ])("open %j keeps the whole secret, because the view is spent", async (options, problem) => {
    const program = signedIn();
    const made = await new SealpushClient({ server, token }).create({ fields, expire_after_views: 1 });
    const opened = await program.run(["open", made.html_url, ...options]);
    expect(opened).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining(problem) });
    expect(opened.stderr).toContain("Saved secret.txt.");
    const saved = join(program.folder, "secret.txt");
    expect([readFileSync(saved, "utf8"), statSync(saved).mode & 0o777]).toEqual([text, 0o600]);
  });

  test("at a terminal the values are asked for one after another, and a wrong label shows the whole secret", async () => {
    const program = signedIn();
    const { shown } = await program.runAtTerminal(
      ["push", "--field", "User=-", "--field", "Password:secret=-"],
      [
        { to: "User: ", type: "ada\n" },
        { to: "Password: ", type: "correct horse\n" },
      ],
    );
    expect(shown).not.toContain("correct horse");
    const link = /http\S+/.exec(shown)?.[0] ?? "";
    const opened = await program.runAtTerminal(["open", link, "--field", "Pin"], []);
    expect([opened.exitCode, opened.shown]).toEqual([1, expect.stringContaining("Password: correct horse")]);
  });

  test("files can be beside the fields, and both are opened", async () => {
    const program = signedIn();
    writeFileSync(join(program.folder, "plan.txt"), "the plan");
    const link = (await program.run(["push", "--field", "User=ada", "plan.txt"])).stdout.trim();
    expect(await program.run(["open", link, "--field", "User"])).toMatchObject({ exitCode: 0, stdout: "ada" });
    expect(readFileSync(join(program.folder, "plan (1).txt"), "utf8")).toBe("the plan");
  });

  test("a wrong command line sends nothing and spends no view", async () => {
    const program = signedIn();
    for (const argv of [
      ["push", "--field", "User"],
      ["push", "--field", "=x"],
      ["push", "--field", "a=-", "--field", "b=-"],
      ["push", "--field", "a=b", "--kind", "url"],
      ["push", "--field", "a=-", "--as", "x.txt"],
      ["open", "abcdefgh", "--otp", "--json"],
      ["open", "abcdefgh", "--field", "a", "--output", "-"],
    ]) {
      expect([argv, (await program.run(argv, { stdin: "x" })).exitCode]).toEqual([argv, 2]);
    }
  });

  test("nothing is sent to a server that does not know fields", async () => {
    const old = await startStandIn((request, _incoming, response) =>
      sendJson(response, request.endsWith("/version") ? 200 : 404, { api_version: "2.1" }),
    );
    const program = makeClientProgram("here", { SEALPUSH_SERVER: old.origin });
    expect(await program.run(["push", "--field", "User=ada"])).toMatchObject({
      exitCode: 1,
      stderr: "This server does not know fields. Nothing was sent.\n",
    });
    expect(old.requests.filter((request) => request.startsWith("POST"))).toEqual([]);
  });
});
