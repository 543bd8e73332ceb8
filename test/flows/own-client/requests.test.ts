import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprintOf } from "@sealpush/age/key-check";
import { makeLinkKey } from "@sealpush/age/link-key";
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

const signedIn = (which: "here" | "whole" = "here") =>
  makeClientProgram(which, { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token });
/** Somebody without an account, and without a configured server. */
const stranger = () => makeClientProgram("here");

/** Both links that `request` prints. */
function linksIn({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) {
  const [, toSend, privateLink] = /^link to send: (\S+)\nprivate link: (\S+)\n$/.exec(stdout) ?? [];
  if (toSend === undefined || privateLink === undefined) throw new Error(`No links: ${stdout}${stderr}`);
  // What follows # is the fingerprint of the key.
  const [page = "", fingerprint] = toSend.split("#");
  expect(fingerprint).toMatch(/^[0-9a-f]{32}$/);
  return { toSend, privateLink, page };
}

describe("the command", () => {
  test("stores the private link of a request where only this user can read it, and says where", async () => {
    const program = signedIn();
    const made = await program.run(["request", "Root password"]);
    const { privateLink, page } = linksIn(made);
    const path = join(program.settings, "requests", page.split("/").at(-1) ?? "");
    expect(made.stderr).toBe(
      `Only the private link opens the answers. It is stored in ${path}: sealpush open - < ${path}\n`,
    );
    expect(readFileSync(path, "utf8")).toBe(`${privateLink}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const opened = await program.run(["open", "-"], { stdin: readFileSync(path, "utf8") });
    expect(opened).toMatchObject({ exitCode: 3, stderr: "Nobody has answered yet.\n" });
  });

  test("prints a private link of the complete server where links to send lead to a gateway", async () => {
    await using behind = await startTestApp({ environment: { PWP__PUBLIC_GATEWAY_URL: "https://open.example.com" } });
    const address = await behind.listen();
    const environment = { SEALPUSH_SERVER: address, SEALPUSH_TOKEN: await behind.makeToken("ada@example.com") };
    const program = makeClientProgram("here", environment);
    const { toSend, privateLink } = linksIn(await program.run(["request", "Root password"]));
    expect(toSend).toMatch(/^https:\/\/open\.example\.com\/requests\//);
    expect(privateLink.startsWith(`${address}/requests/`)).toBe(true);
    expect(await program.run(["open", privateLink])).toMatchObject({
      exitCode: 3,
      stderr: "Nobody has answered yet.\n",
    });
  });

  test("warns if the private link cannot be stored, and stores none of a key under a passphrase", async () => {
    const program = signedIn();
    const away = { environment: { XDG_CONFIG_HOME: "/proc/config" } };
    expect((await program.run(["request", "Root password"], away)).stderr).toMatch(
      /^warning: only the private link opens the answers, and it is not stored: .*does not exist\. Keep it\.\n$/,
    );
    const passphrase = { environment: { SEALPUSH_PASSPHRASE: "correct horse battery staple" } };
    const made = await program.run(["request", "Root password"], passphrase);
    expect(made).toMatchObject({ exitCode: 0, stderr: "" });
    expect(linksIn(made).privateLink).not.toContain("AGE-SECRET-KEY");
    expect(existsSync(join(program.settings, "requests"))).toBe(false);
  });

  test("request, answer, list, open and end: the server gets neither the secret nor the key", async () => {
    const program = signedIn("whole");
    const other = makeClientProgram("client");
    const made = await program.run([
      "request",
      "Root password",
      "--note",
      "of db1",
      "--answers",
      "3",
      "--expire",
      "3d",
    ]);
    const { toSend, privateLink, page } = linksIn(made);
    expect(page).toMatch(new RegExp(`^${server}/requests/[\\w-]+$`));
    const [answersLink, identity = ""] = privateLink.split("#");
    expect(answersLink).toBe(`${page}/answers`);
    expect(identity).toMatch(/^AGE-SECRET-KEY-1/);
    expect(await program.run(["open", privateLink])).toMatchObject({
      exitCode: 3,
      stderr: "Nobody has answered yet.\n",
    });

    for (const stdin of ["correct horse\n", "battery staple\n"]) {
      expect(await other.run(["answer", toSend], { stdin })).toMatchObject({
        exitCode: 0,
        stdout: "The answer was sent. Only the person who asked can open it.\n",
      });
    }
    const requests = await program.run(["list", "--requests"]);
    expect(requests.stdout).toMatch(new RegExp(`^link\tstate.*\n${toSend}\topen\t.*\t2 of 3\tRoot password\n`));
    const listed = (await program.run(["list", privateLink])).stdout.split("\n").slice(1, -1);
    const fragment = `#${identity}.${new URL(toSend).pathname.split("/").at(-1)}`;
    expect(listed.map((row) => row.replace(/^[^\t#]+/, "").split("\t")[0])).toEqual([fragment, fragment]);
    expect((await program.run(["list", toSend])).stdout).not.toContain("#");

    expect(await program.run(["open", privateLink])).toMatchObject({
      exitCode: 0,
      stdout: "correct horse",
      stderr: "Answers that wait after this one: 1.\n",
    });
    expect(await program.run(["open", "-"], { stdin: privateLink })).toMatchObject({ stdout: "battery staple" });
    expect(await program.run(["open", privateLink])).toMatchObject({
      exitCode: 3,
      stderr: "All answers were opened or have ended.\n",
    });

    expect(await program.run(["end", toSend])).toMatchObject({
      stdout: "The request is closed. Answers that have come can still be opened.\n",
    });
    expect(await other.run(["answer", toSend], { stdin: "late" })).toMatchObject({
      exitCode: 3,
      stderr: "This request takes no more answers.\n",
    });
    expect(app.logLines.join()).not.toContain(identity);
  });

  test("says that an answer may have arrived if the connection was closed after it", async () => {
    const { toSend, page } = linksIn(await signedIn().run(["request", "Root password", "--answers", "2"]));
    const proxy = await startStandIn(async (request, { headers }, response, body) => {
      const [method = "", path = ""] = request.split(" ");
      const sent = method === "GET" ? {} : { body, headers: { "content-type": headers["content-type"] ?? "" } };
      const answer = await fetch(`${server}${path}`, { method, ...sent });
      if (method === "GET") sendJson(response, answer.status, await answer.json());
      else response.destroy();
    });
    expect(await stranger().run(["answer", toSend.replace(server, proxy.origin)], { stdin: "hunter2" })).toEqual({
      exitCode: 6,
      stdout: "",
      stderr:
        `${proxy.origin} cannot be reached (the connection was closed without an answer). ` +
        "The answer may have arrived all the same. Ask the person before you send it again.\n",
    });
    expect((await signedIn().run(["list", page])).stdout).toContain("text");
  });

  test("files are asked for, sealed with their names, and saved", async () => {
    const [program, other] = [signedIn(), stranger()];
    const { toSend, privateLink } = linksIn(await program.run(["request", "The plan", "--wants", "files"]));
    writeFileSync(join(other.folder, "plan.txt"), "the plan");
    expect(await other.run(["answer", toSend], { stdin: "a text" })).toMatchObject({
      exitCode: 2,
      stderr: "This request asks for files: name them.\n",
    });
    expect(await other.run(["answer", toSend, "missing.txt"])).toMatchObject({ exitCode: 2 });
    expect(await other.run(["answer", toSend, "plan.txt"])).toMatchObject({ exitCode: 0 });
    expect(await program.run(["open", privateLink])).toMatchObject({ exitCode: 0, stderr: "Saved plan.txt.\n" });
    expect(readFileSync(join(program.folder, "plan.txt"), "utf8")).toBe("the plan");

    const text = linksIn(await program.run(["request", "A word"]));
    expect(await other.run(["answer", text.toSend, "plan.txt"])).toMatchObject({
      exitCode: 2,
      stderr: "This request asks for a text, not for files.\n",
    });
  });

  test("with a passphrase, the private link has no key, and a wrong passphrase spends no view", async () => {
    const program = signedIn();
    const right = { environment: { SEALPUSH_PASSPHRASE: "open sesame seed" } };
    const { toSend, privateLink, page } = linksIn(
      await program.run(["request", "Root password", "--passphrase"], right),
    );
    expect(privateLink).toBe(`${page}/answers`);
    await stranger().run(["answer", toSend], { stdin: "correct horse" });
    const wrong = { environment: { SEALPUSH_PASSPHRASE: "open barley seed" } };
    expect(await program.run(["open", privateLink], wrong)).toMatchObject({ exitCode: 4, stdout: "" });
    expect((await program.run(["list", "--passphrase", privateLink], right)).stdout).toContain("#AGE-SECRET-KEY-1");
    expect(await program.run(["open", privateLink], right)).toMatchObject({ exitCode: 0, stdout: "correct horse" });
  });

  test("an answer to a link that does not name the key is sent with a warning", async () => {
    const { page } = linksIn(await signedIn().run(["request", "Root password"]));
    const { stdout, stderr, exitCode } = await stranger().run(["answer", page], { stdin: "correct horse" });
    expect({ stdout, exitCode }).toEqual({ stdout: "The answer was sent.\n", exitCode: 0 });
    expect(stderr).toMatch(/^warning: the link did not name the key/);
  });

  test("delete destroys the request with its answers, once it is confirmed", async () => {
    const program = signedIn();
    const { toSend, privateLink } = linksIn(await program.run(["request", "Root password"]));
    await stranger().run(["answer", toSend], { stdin: "correct horse" });
    const [answerLink = ""] = (await program.run(["list", privateLink])).stdout.split("\n")[1]?.split("\t") ?? [];
    expect(await program.run(["delete", toSend])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "Nothing was deleted. This cannot be undone: confirm with --yes.\n",
    });
    const hesitated = await program.runAtTerminal(["delete", toSend], [{ to: "[y/N] ", type: "\r" }]);
    expect(hesitated).toMatchObject({ exitCode: 2, shown: expect.stringContaining("Nothing was deleted.") });
    expect(await program.run(["delete", "--yes", answerLink])).toMatchObject({
      exitCode: 2,
      stderr: "This is the link of a push: sealpush end ends it.\n",
    });
    expect(await stranger().run(["delete", "--yes", toSend])).toMatchObject({ exitCode: 5, stdout: "" });
    expect((await program.run(["list", "--requests"])).stdout).toContain(toSend);

    const confirmed = await program.runAtTerminal(["delete", toSend], [{ to: "[y/N] ", type: "y\r" }]);
    expect(confirmed).toMatchObject({
      exitCode: 0,
      shown: expect.stringContaining("The request and its answers were deleted."),
    });
    expect((await program.run(["list", "--requests"])).stdout).not.toContain(toSend);
    expect(await program.run(["open", answerLink])).toMatchObject({ exitCode: 3, stdout: "" });
    expect(await program.run(["delete", "--yes", toSend])).toMatchObject({ exitCode: 3, stdout: "" });
  });

  test("without an account, the private link alone opens, lists, ends and deletes it", async () => {
    await using open = await startTestApp({ environment: { PWP__REQUESTS__ALLOW_ANONYMOUS: "true" } });
    const program = makeClientProgram("here", { SEALPUSH_SERVER: await open.listen() });
    const { toSend, privateLink } = linksIn(await program.run(["request", "Root password", "--answers", "2"]));
    await stranger().run(["answer", toSend], { stdin: "correct horse" });
    expect(await program.run(["list", toSend])).toMatchObject({ exitCode: 5, stdout: "" });
    expect((await stranger().run(["list", privateLink])).stdout).toContain("#AGE-SECRET-KEY-1");
    expect(await stranger().run(["open", privateLink])).toMatchObject({ exitCode: 0, stdout: "correct horse" });
    expect(await stranger().run(["end", privateLink])).toMatchObject({
      stdout: "The request is closed. Answers that have come can still be opened.\n",
    });
    expect(await stranger().run(["delete", "--yes", toSend])).toMatchObject({ exitCode: 5, stdout: "" });
    expect(await stranger().run(["delete", "--yes", privateLink])).toMatchObject({
      stdout: "The request and its answers were deleted.\n",
    });
    const withPassphrase = { environment: { SEALPUSH_PASSPHRASE: "correct horse battery" } };
    expect(await program.run(["request", "Root password"], withPassphrase)).toMatchObject({
      exitCode: 5,
      stdout: "",
      stderr: expect.stringContaining("give an API token, or leave out the passphrase"),
    });
    const client = new SealpushClient({ server: new URL(toSend).origin });
    await expect(client.requests.find(toSend)).rejects.toMatchObject({ code: "not_found" });
  });

  test("without the key, with another one, or without a token, no view is spent", async () => {
    const program = signedIn();
    const { toSend, privateLink, page } = linksIn(await program.run(["request", "Root password"]));
    const other = linksIn(await program.run(["request", "Another"]));
    await stranger().run(["answer", toSend], { stdin: "correct horse" });
    expect(await program.run(["open", toSend])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^Name the whole private link .* No view was spent\.\n$/),
    });
    const mixed = `${page}/answers#${other.privateLink.split("#")[1]}`;
    expect(await program.run(["open", mixed])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/No view was spent\.\n$/),
    });
    expect(await stranger().run(["open", privateLink])).toMatchObject({ exitCode: 5, stdout: "" });
    expect(await program.run(["open", privateLink])).toMatchObject({ exitCode: 0, stdout: "correct horse" });
  });

  test("prints JSON, and names what is wrong", async () => {
    const program = signedIn();
    const made = JSON.parse((await program.run(["request", "A word", "--wants", "both", "--json"])).stdout);
    expect(made).toMatchObject({ title: "A word", wants_text: true, wants_files: true, answers_max: 1 });
    expect(made.private_link).toContain("#AGE-SECRET-KEY-1");
    const problems = [
      [["request"], "Name what you ask for: those who answer see it as the title."],
      [["request", "A word", "--expire", "1h"], "--expire must be whole days or weeks such as 3d or 2w."],
      [["request", "A word", "--wants", "money"], "--wants must be one of text, files, both."],
      [["request", "A word", "--answers", "101"], "--answers must be a whole number from 1 to 100."],
    ] as const;
    for (const [argv, problem] of problems) {
      expect(await program.run(argv)).toMatchObject({ exitCode: 2, stdout: "", stderr: `${problem}\n` });
    }
    expect(await stranger().run(["answer", `${server}/requests/unknown`], { stdin: "x" })).toMatchObject({
      exitCode: 3,
    });
  });

  test("at a terminal, the person who answers reads what is asked for before they type", async () => {
    const { toSend, privateLink } = linksIn(await signedIn().run(["request", "Root password", "--note", "of db1"]));
    const { exitCode, shown } = await stranger().runAtTerminal(
      ["answer", toSend],
      [{ to: "Secret: ", type: "correct horse\r" }],
    );
    expect({ exitCode, shown }).toMatchObject({ exitCode: 0 });
    expect(shown).toMatch(/Root password\s+of db1\s+Secret: /);
    expect(shown).not.toContain("correct horse");
    expect(shown).toContain("Only the person who asked can open it.");
    expect(await signedIn().run(["open", privateLink])).toMatchObject({ stdout: "correct horse" });
  });
});

describe("the client", () => {
  test("sends nothing that opens an answer", async () => {
    const sent: string[] = [];
    const recorded: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      sent.push(`${request.url} ${await request.clone().text()}`);
      return await fetch(request);
    };
    const owner = new SealpushClient({ server, token, fetch: recorded });
    const made = await owner.requests.create({
      title: "Root password",
      wants_files: true,
      passphrase: "open sesame seed",
    });
    const other = new SealpushClient({ server, fetch: recorded });
    const asked = await other.requests.find(made.html_url);
    const files = [{ filename: "private name.txt", content: new Blob(["the content"]) }];
    await other.requests.answer(asked, { payload: "see the file", files });
    const { pushes } = await owner.requests.answers(made.url_token, { passphrase: "open sesame seed" });
    const opened = await owner.retrieve(pushes[0]?.html_url ?? "");
    expect(opened).toMatchObject({ payload: "see the file", files: [{ filename: "private name.txt" }] });
    await owner.requests.delete(made.html_url);
    await expect(other.requests.find(made.html_url)).rejects.toMatchObject({ code: "not_found" });
    const all = sent.join();
    for (const secret of ["open sesame seed", "AGE-SECRET-KEY", "private name", "the content", "see the file"]) {
      expect(all).not.toContain(secret);
    }
  });

  test("sends nothing if the server sends another key than the one in the link, or if the link was cut", async () => {
    const { html_url: link } = await new SealpushClient({ server, token }).requests.create({ title: "Root password" });
    const key = await makeLinkKey();
    const sent: string[] = [];
    const lying = new SealpushClient({
      server,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        sent.push(request.method);
        const answer = await fetch(request);
        return Response.json({ ...(await answer.json()), recipient: key.recipient, url_token: "another" });
      },
    });
    await expect(lying.requests.find(link)).rejects.toThrow("The server has sent another key");
    await expect(new SealpushClient({ server }).requests.find(link.slice(0, -1))).rejects.toThrow("was cut or changed");
    expect(sent).toEqual(["GET"]);
    const [page = ""] = link.split("#");
    const urlToken = new URL(page).pathname.split("/").at(-1);
    expect(await lying.requests.find(page)).toMatchObject({ recipient_checked: false, url_token: urlToken });
    expect(await new SealpushClient({ server }).requests.find(link)).toMatchObject({ recipient_checked: true });
  });

  test("prints and gives the fingerprint of its own key, whatever the server says", async () => {
    const key = await makeLinkKey();
    const lying = new SealpushClient({
      server,
      token,
      fetch: async (input, init) => {
        const made = await (await fetch(input, init)).json();
        return Response.json({
          ...made,
          html_url: `${made.html_url.split("#")[0]}#${await fingerprintOf(key.recipient)}`,
        });
      },
    });
    const made = await lying.requests.create({ title: "Root password" });
    const { html_url: shown } = await lying.requests.answers(made.private_link);
    expect(shown).toBe(made.html_url);
    expect(await new SealpushClient({ server }).requests.find(shown)).toMatchObject({ recipient_checked: true });
  });

  test("refuses a passphrase that can be guessed, before anything is sent", async () => {
    const sent: unknown[] = [];
    const client = new SealpushClient({
      server,
      token,
      fetch: async (input, init) => {
        sent.push(input);
        return await fetch(input, init);
      },
    });
    for (const passphrase of ["elevenchars", "password1234"]) {
      const refused = client.requests.create({ title: "Root password", passphrase });
      await expect(refused).rejects.toThrow("The passphrase must have at least 12 characters");
    }
    expect(sent).toEqual([]);
    const weak = { environment: { SEALPUSH_PASSPHRASE: "elevenchars" } };
    expect(await signedIn().run(["request", "Root password", "--passphrase"], weak)).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringContaining("the operator of the server can try passphrases"),
    });
  });

  test("explains a server without requests, and sends no answer if there is nobody to seal it for", async () => {
    const other = await startStandIn((_request, _incoming, response) =>
      sendJson(response, 404, { error: "not-found" }),
    );
    const client = new SealpushClient({ server: other.origin });
    await expect(client.requests.create({ title: "x" })).rejects.toThrow(
      "This server does not know requests, or they are switched off there.",
    );
    await expect(client.requests.list()).rejects.toThrow(
      "This server does not know requests, or they are switched off there.",
    );
    await expect(client.requests.answer({ url_token: "abc", recipient: "ada" }, { payload: "x" })).rejects.toThrow(
      "no age recipient",
    );
    expect(other.requests).toEqual(["POST /api/sealpush/requests", "GET /api/sealpush/requests?page=1"]);
  });
});
