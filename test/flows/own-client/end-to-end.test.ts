import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSealedLabel, openLabels, SealpushClient } from "@sealpush/client";
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

const secret = "correct horse 🔑\n";
const signedIn = () => makeClientProgram("here", { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token });

/** A client that records what it sends. */
function recordedClient() {
  const sent: string[] = [];
  const client = new SealpushClient({
    server,
    token,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const body = Buffer.from(await request.clone().arrayBuffer()).toString("latin1");
      sent.push(`${request.method} ${request.url} ${JSON.stringify([...request.headers])} ${body}`);
      return await fetch(request);
    },
  });
  return { client, sent };
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

async function* once(text: string) {
  yield Buffer.from(text);
}

describe("the client", () => {
  test.each(["", "open sesame"])("seals a text and opens it with its link, passphrase %j", async (passphrase) => {
    const { client, sent } = recordedClient();
    const made = await client.create({ payload: secret, passphrase }, { endToEnd: true });
    const [, identity = ""] = made.html_url.split("#");
    expect(identity).toMatch(/^AGE-SECRET-KEY-1/);
    expect(await client.retrieve(made.html_url, { passphrase })).toMatchObject({ payload: secret, encryption: "age" });
    const all = sent.join();
    for (const private_ of ["correct horse", identity, "open sesame"]) expect(all).not.toContain(private_);
    expect(all).toContain("BEGIN AGE ENCRYPTED FILE");
  });

  test.each(["", "open sesame"])("seals files with their names, passphrase %j", async (passphrase) => {
    const { client, sent } = recordedClient();
    const files = [
      { filename: "private name.txt", content: () => once("first content"), sizeBytes: 13 },
      { filename: "b.png", content_type: "image/png", content: new Blob(["second content"]) },
    ];
    const made = await client.create({ payload: "see the files", passphrase, files }, { endToEnd: true });
    const opened = await client.retrieve(made.html_url, { passphrase });
    expect(opened.payload).toBe("see the files");
    expect(opened.files.map(({ filename, content_type }) => [filename, content_type])).toEqual([
      ["private name.txt", ""],
      ["b.png", "image/png"],
    ]);
    const contents = await Promise.all(opened.files.map((file) => textOf(client.download(file))));
    expect(contents).toEqual(["first content", "second content"]);
    const all = sent.join();
    for (const private_ of ["private name", "first content", "second content", "see the files"])
      expect(all).not.toContain(private_);
  });

  test("seals name and note if that is chosen, and opens them in the list with the link", async () => {
    const { client, sent } = recordedClient();
    const labels = { name: "Brücke 7", note: "first line\nsecond line" };
    const push = { payload: secret, passphrase: "open sesame", ...labels };
    const made = await client.create(push, { endToEnd: true, sealLabels: true });
    expect(made).toMatchObject(labels);
    for (const label of ["Brücke", "Br\u00c3\u00bccke", "second line"]) expect(sent.join()).not.toContain(label);
    const [listed] = await client.list("active");
    expect([listed?.name, listed?.note].map(isSealedLabel)).toEqual([true, true]);
    if (listed === undefined) throw new Error("The list is empty.");
    expect(await openLabels(listed, made.html_url)).toMatchObject(labels);
    const other = await client.create({ ...push, passphrase: "" }, { endToEnd: true });
    for (const link of [other.html_url, listed.html_url, `${listed.html_url}#AGE-SECRET-KEY-1${"Q".repeat(58)}`]) {
      expect(await openLabels(listed, link)).toEqual(listed);
    }
    expect((await client.list("active"))[0]).toMatchObject(labels);
  });

  test("refuses labels that are too long to be sealed, and labels without a key", async () => {
    const { client, sent } = recordedClient();
    const create = (labels: object) => client.create({ payload: "x", ...labels }, { endToEnd: true, sealLabels: true });
    const longest = { name: "x".repeat(1_225), note: "x".repeat(48_109) };
    expect(await create(longest)).toMatchObject(longest);
    const already = sent.length;
    await expect(create({ name: `${longest.name}x` })).rejects.toThrow("Sealed, the name may have at most 1225 bytes.");
    await expect(create({ note: `${longest.note}x` })).rejects.toThrow("Sealed, the note may have at most 48109 bytes");
    const plain = client.create({ payload: "x", name: "a" }, { sealLabels: true });
    await expect(plain).rejects.toThrow("Name and note can be sealed only with an end-to-end push.");
    expect(sent).toHaveLength(already);
  });

  test("finds a wrong key before a view is spent", async () => {
    const { client } = recordedClient();
    const made = await client.create({ payload: secret, expire_after_views: 1 }, { endToEnd: true });
    const other = await client.create({ payload: secret }, { endToEnd: true });
    const [link = "", identity = ""] = made.html_url.split("#");
    for (const wrong of [identity.slice(0, -1), other.html_url.split("#")[1], "content"]) {
      await expect(client.retrieve(`${link}#${wrong}`)).rejects.toMatchObject({ code: "invalid" });
    }
    expect(await client.retrieve(made.html_url)).toMatchObject({ payload: secret, views_remaining: 0 });
  });

  test("spends one view, however often the passphrase is asked for", async () => {
    const { client } = recordedClient();
    const made = await client.create(
      { payload: secret, passphrase: "right", expire_after_views: 1 },
      { endToEnd: true },
    );
    await expect(client.retrieve(made.html_url)).rejects.toMatchObject({
      code: "wrong_passphrase",
      sealedText: undefined,
    });
    const answers = ["wrong", "right"];
    expect(await client.retrieve(made.html_url, { askPassphrase: async () => answers.shift() })).toMatchObject({
      payload: secret,
    });
  });

  test("refuses what cannot be sealed", async () => {
    const { client } = recordedClient();
    await expect(client.create({ kind: "url", payload: "https://example.com" }, { endToEnd: true })).rejects.toThrow(
      "Only texts and files",
    );
    const unknownSize = { files: [{ filename: "a", content: () => once("a") }] };
    await expect(client.create(unknownSize, { endToEnd: true })).rejects.toThrow("The size of a file must be known");
  });

  test("leaves nothing on a server that does not know end-to-end pushes", async () => {
    const other = await startStandIn((request, _incoming, response) => {
      if (request.endsWith("/version"))
        return sendJson(response, 200, { application_version: "2.11.4", api_version: "2.1" });
      return sendJson(response, request.startsWith("POST") ? 201 : 200, { url_token: "abc" });
    });
    const client = new SealpushClient({ server: other.origin });
    await expect(client.create({ payload: secret }, { endToEnd: true })).rejects.toThrow(
      "does not know end-to-end pushes",
    );
    expect(other.requests.at(-1)).toBe("DELETE /api/v2/pushes/abc");
  });
});

describe("the command", () => {
  test("push --e2e and open", async () => {
    const program = signedIn();
    writeFileSync(join(program.folder, "plan.txt"), "the plan");
    const text = (await program.run(["push", "--e2e"], { stdin: secret })).stdout.trim();
    expect(text).toMatch(/\/r#AGE-SECRET-KEY-1\w{58}$/);
    const files = (await program.run(["push", "--e2e", "plan.txt"])).stdout.trim();
    expect((await program.run(["open", text])).stdout).toBe(secret.trimEnd());
    expect(await program.run(["open", files])).toMatchObject({ exitCode: 0, stderr: "Saved plan (1).txt.\n" });
    expect(readFileSync(join(program.folder, "plan (1).txt"), "utf8")).toBe("the plan");
    const [withoutKey = ""] = text.split("#");
    expect(await program.run(["open", withoutKey])).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/^This push is sealed end to end\..*No view was spent\.\n$/),
    });
  });

  test("a passphrase that is wrong leaves the sealed text, because the view is spent", async () => {
    const program = signedIn();
    const environment = { SEALPUSH_PASSPHRASE: "right" };
    const { stdout } = await program.run(["push", "--e2e", "--passphrase", "--views", "2"], {
      stdin: secret,
      environment,
    });
    const link = stdout.trim();
    expect(await program.run(["open", link])).toMatchObject({
      exitCode: 4,
      stdout: "",
      stderr: "This push needs a passphrase.\n",
    });
    const wrong = await program.run(["open", link], { environment: { SEALPUSH_PASSPHRASE: "wrong" } });
    expect(wrong).toMatchObject({ exitCode: 4, stdout: expect.stringMatching(/^-----BEGIN AGE/) });
    expect(wrong.stderr).toMatch(/^The view is spent\..*\nThat passphrase is wrong\.\n$/);
    expect((await program.run(["open", link], { environment })).stdout).toBe(secret.trimEnd());
  });

  test("--seal-labels seals the name, which list shows only with the link", async () => {
    const program = signedIn();
    const argv = ["push", "--name", "Bridge 7", "--note", "on Friday", "--seal-labels"];
    expect(await program.run(argv, { stdin: "x" })).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "--seal-labels needs --e2e: name and note are sealed for the same key.\n",
    });
    const made = JSON.parse((await program.run([...argv, "--e2e", "--json"], { stdin: "x" })).stdout);
    expect(made).toMatchObject({ name: "Bridge 7", note: "on Friday" });
    const { stdout: plain } = await program.run(["push", "--e2e", "--name", "Bridge 8"], { stdin: "x" });
    writeFileSync(join(program.folder, "links.txt"), `my links:\n${made.html_url}\n${plain}`);
    const namesIn = ({ stdout }: { stdout: string }) => stdout.split("\n").map((row) => row.split("\t").at(-1));
    expect(namesIn(await program.run(["list"])).slice(1, 3)).toEqual(["Bridge 8", "Sealed name"]);
    expect(namesIn(await program.run(["list", "--links", "links.txt"])).slice(1, 3)).toEqual(["Bridge 8", "Bridge 7"]);
    const [, listed] = JSON.parse((await program.run(["list", "--links", "links.txt", "--json"])).stdout);
    expect(listed).toMatchObject({ name: "Bridge 7", note: "on Friday" });
    expect(await program.run(["list", "--links", "/dev/zero"])).toMatchObject({
      exitCode: 1,
      stderr: "/dev/zero is too long: 1048576 bytes at most.\n",
    });
  });

  test("--as is refused with --e2e, because the size of standard input is unknown", async () => {
    expect(await signedIn().run(["push", "--e2e", "--as", "a.txt"], { stdin: "x" })).toMatchObject({
      exitCode: 2,
      stdout: "",
    });
  });
});
