import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { markerName } from "../../src/blobs/file-blob-store.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { countRows } from "../support/engine-database.ts";
import { makeSweeper } from "../support/sweeper.ts";

let app: TestApp;
let origin: string;
let headers: { authorization: string };
beforeAll(async () => {
  app = await startTestApp({
    environment: { PWP__FILES__MAX_PUSH_BYTES: "3000000", PWP__FILES__MAX_FILE_UPLOADS: "3" },
  });
  origin = await app.listen();
  headers = { authorization: `Bearer ${await app.makeToken("owner@example.com")}` };
});
afterAll(() => app[Symbol.asyncDispose]());

interface File_ {
  readonly filename: string;
  readonly content_type: string;
  readonly url: string;
}

async function push(body: FormData | string, more: Readonly<Record<string, string>> = {}): Promise<Response> {
  return await fetch(`${origin}/api/v2/pushes`, { method: "POST", body, headers: { ...headers, ...more } });
}

function formWith(files: readonly (readonly [name: string, bytes: Uint8Array<ArrayBuffer>])[]): FormData {
  const form = new FormData();
  for (const [name, bytes] of files)
    form.append("push[files][]", new Blob([bytes], { type: "application/x-test" }), name);
  return form;
}

async function filesOf(urlToken: string): Promise<readonly File_[]> {
  return (await (await fetch(`${origin}/api/v2/pushes/${urlToken}`)).json()).files;
}

const some = (bytes: number) => Uint8Array.from(randomBytes(bytes));

test("files sent as multipart are returned byte for byte; fields before and after them are read", async () => {
  const [large, small] = [some(2_000_000), some(3)];
  const form = formWith([
    ["größe 😀.bin", large],
    ["b.html", small],
  ]);
  form.append("push[expire_after_views]", "2");
  const created = await push(form);
  expect(created.status).toBe(201);
  const answer = await created.json();
  expect(answer).toMatchObject({ kind: "file", expire_after_views: 2 });
  const files = await filesOf(answer.url_token);
  expect(files.map((file) => file.filename)).toEqual(["größe 😀.bin", "b.html"]);
  const first = await fetch(files[0]?.url ?? "");
  expect(Buffer.from(await first.arrayBuffer()).equals(large)).toBe(true);
  expect(first.headers.get("content-type")).toBe("application/octet-stream");
  expect(first.headers.get("content-disposition")).toContain("attachment; filename=");
  expect(first.headers.get("content-security-policy")).toContain("sandbox");
  const range = await fetch(files[0]?.url ?? "", { headers: { range: "bytes=65530-65545" } });
  expect([range.status, range.headers.get("content-range")]).toEqual([206, "bytes 65530-65545/2000000"]);
  expect(Buffer.from(await range.arrayBuffer()).equals(large.subarray(65_530, 65_546))).toBe(true);
});

test("a file whose declared type is no media type is served as the type that its name implies", async () => {
  const part = (filename: string, type: string) =>
    `--b\r\nContent-Disposition: form-data; name="push[files][]"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\nx\r\n`;
  const body = `${part("a.txt", "garbage")}${part("b", "gar bage/x")}${part("c.txt", "application/x-test")}--b--\r\n`;
  const created = await push(body, { "content-type": "multipart/form-data; boundary=b" });
  const files = await filesOf((await created.json()).url_token);
  expect(files).toMatchObject([
    { filename: "a.txt", content_type: "text/plain" },
    { filename: "b", content_type: "application/octet-stream" },
    { filename: "c.txt", content_type: "application/x-test" },
  ]);
});

test("files sent as JSON are returned byte for byte, including an empty one", async () => {
  const payload = {
    push: {
      payload: "see attached",
      files: [
        { filename: "../../etc/passwd", content_type: "text/plain", data: Buffer.from("hello").toString("base64") },
        { filename: "empty", data: "" },
      ],
    },
  };
  const created = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload });
  expect(created.json().kind).toBe("file");
  const [hello, empty] = await filesOf(created.json().url_token);
  expect(hello?.filename).toBe("passwd");
  expect(await (await fetch(hello?.url ?? "")).text()).toBe("hello");
  expect((await (await fetch(empty?.url ?? "")).arrayBuffer()).byteLength).toBe(0);
});

test.each(["push[files][]", "push[files]", "push[files][0]"])("files can be sent as %s", async (field) => {
  const form = new FormData();
  form.append(field, new Blob([some(5)]), "a");
  const answer = await (await push(form)).json();
  expect(await filesOf(answer.url_token)).toHaveLength(1);
});

test("an explicit kind takes precedence over the kind file, and the files stay attached", async () => {
  const form = formWith([["a", some(5)]]);
  form.append("push[kind]", "text");
  form.append("push[payload]", "text");
  const answer = await (await push(form)).json();
  expect(answer.kind).toBe("text");
  expect(await filesOf(answer.url_token)).toHaveLength(1);
});

describe("a refused upload leaves no rows or files behind", () => {
  test.each([
    ["too many files", () => formWith([0, 1, 2, 3].map((n) => [`f${n}`, some(1)] as const)), 422],
    [
      "too many bytes",
      () =>
        formWith([
          ["a", some(2_000_000)],
          ["b", some(1_500_000)],
        ]),
      413,
    ],
  ] as const)("%s", async (_, form, status) => {
    expect((await push(form())).status).toBe(status);
  });

  test("invalid fields after the files", async () => {
    const form = formWith([["a", some(100)]]);
    form.append("push[expire_after_days]", "1000");
    const answer = await push(form);
    expect([answer.status, Object.keys(await answer.json())]).toEqual([422, ["expire_after_days"]]);
  });

  test("a file in a text field", async () => {
    const form = new FormData();
    form.append("push[payload]", new Blob(["x"]), "payload.txt");
    expect((await push(form)).status).toBe(400);
  });

  test("without a token", async () => {
    const answer = await fetch(`${origin}/api/v2/pushes`, { method: "POST", body: formWith([["a", some(10)]]) });
    expect(answer.status).toBe(401);
  });
});

test("an aborted upload leaves no rows or files behind", async () => {
  const { db } = app.app.domain;
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const head = [
    "POST /api/v2/pushes HTTP/1.1",
    "Host: a",
    `Authorization: ${headers.authorization}`,
    "Content-Length: 1000000",
    "Content-Type: multipart/form-data; boundary=b",
    "",
    "--b",
    'Content-Disposition: form-data; name="push[files][]"; filename="a"',
    "",
    "",
  ];
  socket.write(`${head.join("\r\n")}${"x".repeat(200_000)}`);
  await expect.poll(() => countRows(db, "uploads")).toBe(1);
  socket.destroy();
  await expect.poll(() => countRows(db, "uploads")).toBe(0);
});

test("a sender that stalls for less than 15 minutes between two files loses nothing; after that the first file is removed", async () => {
  await using stalled = await startTestApp();
  const token = await stalled.makeToken("owner@example.com");
  const url = `${await stalled.listen()}/api/v2/pushes`;
  const { clock, app: running } = stalled;
  const part = (name: string) =>
    `--b\r\ncontent-disposition: form-data; name="push[files][]"; filename="${name}"\r\n\r\n${name.padEnd(100_000)}\r\n`;
  /** Sends the first file, lets the sweeper run after the time, then sends the second. @returns the status. */
  const sendWithPause = async (ms: number) => {
    const pauses = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    async function* body() {
      const first = part("first.txt");
      const [head = "", ...rest] = part("second.txt").split(/(?<=filename)/);
      yield Buffer.from(first.slice(0, -50_000));
      await pauses[0].promise;
      yield Buffer.from(first.slice(-50_000) + head);
      await pauses[1].promise;
      yield Buffer.from(`${rest.join("")}--b--\r\n`);
    }
    const headers = { authorization: `Bearer ${token}`, "content-type": "multipart/form-data; boundary=b" };
    const sending = httpRequest(url, { method: "POST", headers });
    const answer = once(sending, "response");
    Readable.from(body()).pipe(sending);
    const { db } = running.domain;
    await expect.poll(() => countRows(db, "uploads")).toBe(1);
    // A complete file is recorded with its time, which differs from the time of its beginning.
    clock.advance(1);
    pauses[0].resolve();
    await expect.poll(() => countRows(db, "uploads", `renewed_at = ${clock.now()}`)).toBe(1);
    clock.advance(ms);
    await makeSweeper({ domain: running.domain, clock }).sweep();
    pauses[1].resolve();
    const [{ statusCode }] = await answer;
    return statusCode;
  };
  expect(await sendWithPause(15 * minuteMs - 1)).toBe(201);
  expect(await sendWithPause(15 * minuteMs + 1)).toBe(503);
  expect(await countRows(running.domain.db, "files")).toBe(2);
});

test("the empty file input of a browser's form is not a file", async () => {
  const form = formWith([["", some(0)]]);
  form.append("push[files][]", "");
  form.append("push[payload]", "only text");
  const answer = await (await push(form)).json();
  expect(answer.kind).toBe("text");
});

test("download tickets are audited, become invalid when the push is deleted, and cannot be guessed", async () => {
  const { url_token } = await (await push(formWith([["a", some(10)]]))).json();
  const [file] = await filesOf(url_token);
  const url = file?.url ?? "";
  expect((await fetch(url, { method: "HEAD" })).headers.get("content-length")).toBe("10");
  expect((await fetch(url)).status).toBe(200);
  const flipped = `${url.slice(0, -2)}${url.at(-2) === "A" ? "B" : "A"}${url.at(-1)}`;
  expect((await fetch(flipped)).status).toBe(404);
  const { logs } = await (await fetch(`${origin}/api/v2/pushes/${url_token}/audit`, { headers })).json();
  expect(logs.filter((log: { kind: string }) => log.kind === "download")).toHaveLength(1);
  await fetch(`${origin}/api/v2/pushes/${url_token}`, { method: "DELETE", headers });
  expect((await fetch(url)).status).toBe(404);
});

test("download tickets expire", async () => {
  const { url_token } = await (await push(formWith([["a", some(10)]]))).json();
  const [file] = await filesOf(url_token);
  app.clock.advance(15 * 60_000 + 1);
  expect((await fetch(file?.url ?? "")).status).toBe(404);
});

test("the log contains no token, download ticket or file name", () => {
  const ofFirstStart = /"event":"(?:master_key_made|boot_code_made)"/;
  // The format of each part leaves no room for data of a request.
  const ofRequest =
    /^\{"level":"info","time":"[\dT:.Z-]+","event":"request","requestId":"[0-9a-f]{16}","method":"[A-Z]+","route":"(?:unmatched|[/a-z0-9_:]+)","status":\d{3},"durationMs":[\d.]+\}$/;
  const lines = app.logLines.flatMap((written) => written.trimEnd().split("\n"));
  expect(lines.filter((line) => !ofFirstStart.test(line) && !ofRequest.test(line))).toEqual([]);
});

const blobPaths = () =>
  readdirSync(join(app.dataDir, "blobs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== markerName)
    .map((entry) => join(entry.parentPath, entry.name));

test("a file missing on disk is answered with 404 and logged", async () => {
  const created = await (await push(formWith([["a.bin", some(10)]]))).json();
  const [file] = await filesOf(created.url_token);
  for (const path of blobPaths()) rmSync(path);
  const loggedBefore = app.logLines.length;
  expect((await fetch(file?.url ?? "")).status).toBe(404);
  const logged = app.logLines.slice(loggedBefore).join("");
  expect(logged).toMatch(/"level":"error".*"event":"file_missing".*"pushId":\d+,"fileId":\d+\}/);
  expect(logged).not.toContain("unexpected_error");
});

test("a file damaged on disk is answered with 503 and logged, and its retrieval counts no view", async () => {
  const form = formWith([["a.bin", some(100_000)]]);
  form.append("push[expire_after_views]", "2");
  const { url_token: token } = await (await push(form)).json();
  const [file] = await filesOf(token);
  const [damaged = ""] = blobPaths().filter((path) => statSync(path).size > 100_000);
  for (const damage of [() => truncateSync(damaged, 50_000), () => writeFileSync(damaged, some(100_040))]) {
    damage();
    const loggedBefore = app.logLines.length;
    for (const url of [file?.url ?? "", `${origin}/api/v2/pushes/${token}`]) {
      const refused = await fetch(url);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
    }
    const logged = app.logLines.slice(loggedBefore).join("");
    expect(logged.match(/"level":"error".*"event":"file_damaged".*"pushId":\d+,"fileId":\d+\}/g)).toHaveLength(2);
    expect(logged).not.toContain("unexpected_error");
  }
  const { store, vault } = app.app.domain;
  expect(await store.find(vault.urlTokens.addressOf(token))).toMatchObject({ views: 1, endedAt: null });
});

test("a push has as many files as the setting allows, on every way", async () => {
  const count = 300;
  await using many = await startTestApp({ environment: { PWP__FILES__MAX_FILE_UPLOADS: String(count) } });
  const token = { authorization: `Bearer ${await many.makeToken("owner@example.com")}` };
  const names = Array.from({ length: count }, (_, at) => `${at}.txt`);
  const address = `${await many.listen()}/api/v2/pushes`;
  const form = formWith(names.map((name) => [name, new TextEncoder().encode(name)]));
  form.append("push[retrieval_step]", "false");
  const asForm = await fetch(address, { method: "POST", body: form, headers: token });
  const files = names.map((name) => ({ filename: name, content_type: "", data: Buffer.from(name).toString("base64") }));
  const headers = { ...token, "content-type": "application/json" };
  const asJson = await fetch(address, { method: "POST", body: JSON.stringify({ push: { files } }), headers });
  for (const created of [asForm, asJson]) {
    expect(created.status).toBe(201);
    const { url_token: urlToken } = await created.json();
    const opened = await (await fetch(`${address}/${urlToken}`)).json();
    expect(opened.files.map(({ filename }: File_) => filename)).toEqual(names);
    expect(await (await fetch(opened.files[count - 1].url)).text()).toBe(names.at(-1));
  }
  form.append("push[files][]", new Blob(["x"]), "one too many");
  const refused = await fetch(address, { method: "POST", body: form, headers: token });
  expect([refused.status, await refused.json()]).toEqual([422, { files: [`can't be more than ${count}.`] }]);
});
