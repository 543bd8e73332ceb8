import { readdirSync } from "node:fs";
import { makeLinkKey } from "@sealpush/age/link-key";
import { sealText } from "@sealpush/age/seal";
import { writeAnswer, writeLabel } from "@sealpush/age/sealed-content";
import { SealpushClient } from "@sealpush/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { makeClientProgram } from "../../support/client-program.ts";
import { startStandIn } from "../../support/stand-in.ts";

let app: TestApp;
let server: string;
let token: string;

beforeAll(async () => {
  app = await startTestApp();
  server = await app.listen();
  token = await app.makeToken("ada@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

interface DeliveredPush {
  payload: string | null;
  files: { filename: string; url: string }[];
}
type Lie = (push: DeliveredPush) => void;

/** A client whose server changes what it answers to a retrieval. */
function clientOf(lie: Lie): SealpushClient {
  return new SealpushClient({
    server,
    token,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const answer = await fetch(request);
      const isRetrieval = request.method === "GET" && /\/api\/v2\/pushes\/[a-z0-9]{32}$/.test(request.url);
      if (!isRetrieval) return answer;
      const push = await answer.json();
      lie(push);
      return Response.json(push);
    },
  });
}

const honest = () => new SealpushClient({ server, token });
const files = ["a", "b"].map((name) => ({ filename: `${name}.txt`, content: new Blob([`content of ${name}`]) }));
const message = "see the files";

async function pushFiles(): Promise<string> {
  return (await honest().create({ payload: message, files }, { endToEnd: true })).html_url;
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

const notDelivered = "did not deliver what was sealed, so nothing is shown";
const somethingElse = "The server delivered something else than the secret of this link";

describe("nothing of a push with files is shown if the server", () => {
  const lies: readonly (readonly [how: string, lie: Lie, problem: string])[] = [
    ["drops a file", ({ files: all }) => all.pop(), "missing: b.txt"],
    ["drops all files", (push) => Object.assign(push, { files: [], kind: "text" }), "missing: a.txt, missing: b.txt"],
    ["adds a file", ({ files: all }) => all.push({ filename: "3.age", url: all[0]?.url ?? "" }), "added: 3.age"],
    ["adds a file twice", ({ files: all }) => all.push({ ...(all[0] as DeliveredPush["files"][0]) }), "added: 1.age"],
    ["renames a file", ({ files: all }) => Object.assign(all[0] ?? {}, { filename: "x" }), "missing: a.txt, added: x"],
  ];
  test.each(lies)("%s", async (_, lie, problem) => {
    await expect(clientOf(lie).retrieve(await pushFiles())).rejects.toThrow(`${notDelivered} (${problem}).`);
  });
});

test("a file that the server exchanges for another one, or cuts, does not open", async () => {
  const link = await pushFiles();
  const exchanging = clientOf(({ files: [first, second] }) => {
    if (first !== undefined && second !== undefined) [first.url, second.url] = [second.url, first.url];
  });
  const opened = await exchanging.retrieve(link);
  expect(opened.files.map(({ filename }) => filename)).toEqual(["a.txt", "b.txt"]);
  for (const file of opened.files) {
    await expect(textOf(exchanging.download(file))).rejects.toThrow("changed after it was sealed");
  }

  const whole = await honest().retrieve(link);
  expect(await textOf(honest().download(whole.files[0] ?? { url: "" }))).toBe("content of a");
  for (const lostBytes of [1, 16]) {
    const other = await startStandIn(async (_request, _incoming, response) => {
      const sealed = Buffer.from(await (await fetch(whole.files[0]?.url ?? "")).arrayBuffer());
      response.end(sealed.subarray(0, -lostBytes));
    });
    const cut = clientOf(({ files: [first] }) => Object.assign(first ?? {}, { url: `${other.origin}/1` }));
    const [file] = (await cut.retrieve(link)).files;
    await expect(textOf(cut.download(file ?? { url: "" }))).rejects.toThrow("changed after it was sealed");
  }
});

test("the order of the files is the one that was sealed", async () => {
  const { files: opened } = await clientOf(({ files: all }) => all.reverse()).retrieve(await pushFiles());
  expect(opened.map(({ filename }) => filename)).toEqual(["a.txt", "b.txt"]);
  expect(await textOf(honest().download(opened[0] ?? { url: "" }))).toBe("content of a");
});

describe("the payload is not shown if the server delivers", () => {
  test("the note or the name in its place", async () => {
    const labels = { name: "Bridge 7", note: "on Friday" };
    const made = await honest().create({ payload: "the secret", ...labels }, { endToEnd: true, sealLabels: true });
    const [listed] = await honest().list("active");
    for (const label of [listed?.name, listed?.note]) {
      const lying = clientOf((push) => Object.assign(push, { payload: label }));
      await expect(lying.retrieve(made.html_url)).rejects.toThrow(somethingElse);
    }
    expect(await honest().retrieve(made.html_url)).toMatchObject({ payload: "the secret" });
  });

  test("nothing at all", async () => {
    const { html_url: link } = await honest().create({ payload: "the secret" }, { endToEnd: true });
    const lying = clientOf((push) => Object.assign(push, { payload: null }));
    await expect(lying.retrieve(link)).rejects.toThrow(somethingElse);
  });

  test("content of a later format", async () => {
    const key = await makeLinkKey();
    for (const content of [
      '{"sealpush":2,"is":"payload","text":"a"}',
      '{"sealpush":1,"is":"payload","text":"a","x":1}',
    ]) {
      const payload = await sealText(content, key.recipient, "");
      const made = await honest().create({ payload, encryption: "age", encryption_check: key.check });
      await expect(honest().retrieve(`${made.html_url}#${key.identity}`)).rejects.toThrow(somethingElse);
    }
  });
});

test("a label that is exchanged for the other one is not shown", async () => {
  const { openLabels } = await import("@sealpush/client");
  const labels = { name: "Bridge 7", note: "on Friday" };
  const made = await honest().create({ payload: "x", ...labels }, { endToEnd: true, sealLabels: true });
  const [listed] = await honest().list("active");
  if (listed === undefined) throw new Error("The list is empty.");
  const exchanged = { ...listed, name: listed.note, note: listed.name };
  expect(await openLabels(exchanged, made.html_url)).toEqual(exchanged);
  expect(await openLabels(listed, made.html_url)).toMatchObject(labels);
});

test("a text that looks like the format is shown as it was sent", async () => {
  const payload = writeLabel("note", "not a note");
  const made = await honest().create({ payload }, { endToEnd: true });
  expect(await honest().retrieve(made.html_url)).toMatchObject({ payload });
});

describe("an answer", () => {
  test("to another request of the same key is not opened, and neither is a payload or a bare text", async () => {
    const owner = honest();
    const asked = await owner.requests.create({ title: "Root password", answers_max: 5 });
    const { recipient } = await owner.requests.find(asked.url_token);
    await owner.requests.answer({ url_token: asked.url_token, recipient }, { payload: "right" });
    const contents = [
      writeAnswer("a".repeat(32), { text: "of another request", files: [] }),
      "a bare text",
      '{"sealpush":1,"is":"payload","text":"a payload"}',
    ];
    for (const content of contents) {
      const payload = await sealText(content, recipient, "");
      const sent = await fetch(`${server}/api/sealpush/requests/${asked.url_token}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ payload, encryption: "age" }),
      });
      expect(sent.status).toBe(201);
    }
    const { pushes } = await owner.requests.answers(asked.private_link);
    const [right, ...others] = pushes.map(({ html_url: link }) => link);
    expect(await owner.retrieve(right ?? "")).toMatchObject({ payload: "right" });
    for (const link of others) await expect(owner.retrieve(link)).rejects.toThrow(somethingElse);
  });

  test("is not opened as the content of an ordinary push", async () => {
    const owner = honest();
    const asked = await owner.requests.create({ title: "Root password" });
    await owner.requests.answer(await owner.requests.find(asked.url_token), { payload: "x" });
    const [answer] = (await owner.requests.answers(asked.private_link)).pushes;
    const [withoutRequest = ""] = answer?.html_url.match(/^.*#AGE-SECRET-KEY-1[0-9A-Z]+/) ?? [];
    await expect(owner.retrieve(withoutRequest)).rejects.toThrow(somethingElse);
  });
});

test("files that were sealed without a list are opened, and the command says that their names are not protected", async () => {
  const key = await makeLinkKey();
  const client = honest();
  const payload = await sealText("by hand", key.recipient, "");
  const { sealFile } = await import("@sealpush/age/seal");
  const sealed = await new Response(await sealFile(new Blob(["the plan"]).stream(), key.recipient)).blob();
  const made = await client.create({
    payload,
    encryption: "age",
    encryption_check: key.check,
    files: [{ filename: "plan.txt.age", content: sealed }],
  });
  const link = `${made.html_url}#${key.identity}`;
  const program = makeClientProgram("here", { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token });
  expect(await program.run(["open", link])).toEqual({
    exitCode: 0,
    stdout: "by hand",
    stderr:
      "No list of these files was sealed, so their names and number are not protected: compare them with the sender.\n" +
      "Saved plan.txt.\n",
  });
  expect(readdirSync(program.folder)).toContain("plan.txt");
  expect(await client.retrieve(link)).toMatchObject({ payload: "by hand", files_listed: false });
  expect(await client.retrieve(await pushFiles())).toMatchObject({ files_listed: true });
});
