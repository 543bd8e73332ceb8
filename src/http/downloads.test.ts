import { afterEach, describe, expect, test } from "vitest";
import { type BareServer, startBareServer } from "../../test/support/http-server.ts";
import { unavailable } from "../base/errors.ts";
import type { Actor, Download } from "../pushes/pushes.ts";
import { createEvents } from "../telemetry/events.ts";
import { createLogger } from "../telemetry/logger.ts";
import { registerDownloads } from "./downloads.ts";
import { attachment } from "./headers.ts";

let server: BareServer;
afterEach(() => server.fastify.close());

interface Opened {
  readonly ticket: string;
  readonly actor: Actor;
}

/** Returns `bytes` in small chunks; throws before the chunk that contains the byte `breaksAt`. */
function start(bytes: Buffer, file: Partial<Download> = {}, breaksAt = Number.POSITIVE_INFINITY) {
  server = startBareServer();
  const opened: Opened[] = [];
  const reads: { start: number; end: number }[] = [];
  const logLines: string[] = [];
  async function* read(range: { start: number; end: number }) {
    reads.push(range);
    for (let at = range.start; at <= range.end; at += 10) {
      const end = Math.min(at + 10, range.end + 1);
      if (end > breaksAt) throw unavailable("The storage cannot give files now.", 60);
      yield bytes.subarray(at, end);
    }
  }
  registerDownloads(server.fastify, {
    pushes: {
      async openTicket(ticket, actor) {
        opened.push({ ticket, actor });
        if (!ticket.startsWith("good")) return undefined;
        return {
          filename: "a.txt",
          contentType: "text/plain",
          pushId: 7,
          fileId: 8,
          sizeBytes: bytes.length,
          read,
          ...file,
        };
      },
    },
    clock: server.clock,
    events: createEvents({
      logger: createLogger("debug", { write: (line: string) => logLines.push(line) }),
      clock: server.clock,
    }),
  });
  const get = (headers: Record<string, string> = {}, url = "/files/good") => server.fastify.inject({ url, headers });
  return { opened, reads, logLines, get };
}

const alphabet = Buffer.from("abcdefghijklmnopqrstuvwxyz");

test("the whole file is an attachment that browsers do not run", async () => {
  const { get } = start(alphabet);
  const answer = await get();
  expect(answer.body).toBe(alphabet.toString());
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    "content-type": "text/plain",
    "content-length": "26",
    "content-disposition": 'attachment; filename="a.txt"',
    "accept-ranges": "bytes",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringContaining("sandbox"),
  });
});

test.each(["application/json", "text/markdown", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"])(
  "%j keeps its type",
  async (contentType) => {
    const answer = await start(alphabet, { contentType }).get();
    expect(answer.headers["content-type"]).toBe(contentType);
  },
);

test.each([
  "text/html",
  "image/svg+xml",
  "application/vnd.mozilla.xul+xml",
  "application/xhtml+xml",
  "text/xml",
  "application/javascript",
  "x\r\ny: z",
  "",
])("%j is sent as plain bytes", async (contentType) => {
  const answer = await start(alphabet, { contentType }).get();
  expect(answer.headers["content-type"]).toBe("application/octet-stream");
});

test.each([
  ["bytes=0-4", 206, "abcde", "bytes 0-4/26"],
  ["bytes=20-", 206, "uvwxyz", "bytes 20-25/26"],
  ["bytes=20-999", 206, "uvwxyz", "bytes 20-25/26"],
  ["bytes=-3", 206, "xyz", "bytes 23-25/26"],
  ["bytes=-99", 206, alphabet.toString(), "bytes 0-25/26"],
  ["bytes=26-", 416, "", "bytes */26"],
  ["bytes=-0", 416, "", "bytes */26"],
  ["bytes=5-2", 200, alphabet.toString(), undefined],
  ["bytes=0-1,5-6", 200, alphabet.toString(), undefined],
  ["bytes=x-y", 200, alphabet.toString(), undefined],
  ["bytes=-", 200, alphabet.toString(), undefined],
  ["lines=1-2", 200, alphabet.toString(), undefined],
  ["bytes=99999999999999999999-", 200, alphabet.toString(), undefined],
])("Range: %s", async (range, status, body, contentRange) => {
  const answer = await start(alphabet).get({ range });
  expect([answer.statusCode, answer.body, answer.headers["content-range"]]).toEqual([status, body, contentRange]);
});

test("If-Range with the entity tag keeps the range, with another tag does not", async () => {
  const { get } = start(alphabet);
  const tag = String((await get()).headers.etag);
  expect((await get({ range: "bytes=0-0", "if-range": tag })).statusCode).toBe(206);
  expect((await get({ range: "bytes=0-0", "if-range": '"other"' })).statusCode).toBe(200);
});

test("an empty file", async () => {
  const { get } = start(Buffer.alloc(0));
  const answer = await get();
  expect([answer.statusCode, answer.headers["content-length"], answer.body]).toEqual([200, "0", ""]);
  expect((await get({ range: "bytes=0-" })).statusCode).toBe(416);
});

test("every request for bytes reads the file, ranges too; a HEAD request does not", async () => {
  const { get, reads } = start(alphabet);
  await get();
  await get({ range: "bytes=1-" });
  const head = await server.fastify.inject({ method: "HEAD", url: "/files/good" });
  expect([head.statusCode, head.headers["content-length"], head.body]).toEqual([200, "26", ""]);
  expect(reads).toEqual([
    { start: 0, end: 25 },
    { start: 1, end: 25 },
  ]);
});

test("an invalid or expired ticket gets 404", async () => {
  const { get, opened } = start(alphabet);
  expect((await get({}, "/files/bad")).statusCode).toBe(404);
  expect((await get({}, "/files/a%00b")).statusCode).toBe(404);
  expect((await get({}, `/files/${"a".repeat(2_000)}`)).statusCode).toBe(404);
  expect(opened.map(({ ticket }) => ticket)).toEqual(["bad"]);
});

test("any file name is safe in the header", async () => {
  const name = 'a"b\\c\r\nd;é😀 %41.txt';
  const header = String((await start(alphabet, { filename: name }).get()).headers["content-disposition"]);
  expect(header).toMatch(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[A-Za-z0-9%._~-]*$/);
  expect(decodeURIComponent(header.slice(header.indexOf("''") + 2))).toBe(name);
});

test("a file that cannot be read at its start gets 503 with Retry-After, not a truncated answer", async () => {
  const { get } = start(alphabet, {}, 5);
  const answer = await get();
  expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "60"]);
  expect(answer.headers["content-disposition"]).toBeUndefined();
});

test("a file that is damaged after its start cuts the connection", async () => {
  const { logLines } = start(alphabet, {}, 15);
  const origin = await server.fastify.listen({ host: "127.0.0.1", port: 0 });
  const answer = await fetch(`${origin}/files/good`);
  await expect(answer.text()).rejects.toThrow();
  expect(logLines.join("")).toContain("download_broken");
  expect(logLines.join("")).not.toContain("good");
});

test.each(["/files/good", "/files/good/view", "/files/zip/good1.good2"])(
  "%s closes the file if its client leaves before the first byte",
  async (path) => {
    const closed = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    async function* read() {
      try {
        reached.resolve();
        await gate.promise;
        for (let sent = 0; sent < 26; sent += 1) yield alphabet.subarray(sent, sent + 1);
      } finally {
        closed.resolve();
      }
    }
    start(alphabet, { read });
    const left = Promise.withResolvers<void>();
    server.fastify.addHook("onRequest", async (request) => {
      request.raw.socket.once("close", () => left.resolve());
    });
    const origin = await server.fastify.listen({ host: "127.0.0.1", port: 0 });
    const client = new AbortController();
    const answer = fetch(`${origin}${path}`, { signal: client.signal });
    await reached.promise;
    client.abort();
    await expect(answer).rejects.toThrow();
    await left.promise;
    gate.resolve();
    await closed.promise;
  },
);

describe("a file that is looked at", () => {
  const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(30)]);
  const view = (bytes: Buffer, file: Partial<Download> = {}) => start(bytes, file).get({}, "/files/good/view");

  test("is shown by its content, in a sandbox", async () => {
    const { headers, body } = await view(alphabet, { contentType: "image/png" });
    expect(body).toBe(alphabet.toString());
    expect(headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-length": "26",
      "content-disposition": 'inline; filename="a.txt"',
      "content-security-policy": expect.stringMatching(/^default-src 'none'.*sandbox$/),
      "cross-origin-opener-policy": "unsafe-none",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    expect((await view(png, { contentType: "text/html" })).headers["content-type"]).toBe("image/png");
  });

  test("is a text if it contains markup", async () => {
    const { headers } = await view(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"));
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
  });

  test.each([
    ["a PDF", Buffer.from("%PDF-\xe2\xe3\xcf\xd3\n", "latin1")],
    ["bytes", Buffer.from([1, 2, 3, 0])],
  ])("is saved if it is %s", async (_what, bytes) => {
    const { headers } = await view(bytes, { contentType: "image/png" });
    expect(headers["content-disposition"]).toMatch(/^attachment/);
  });

  test("is the whole file, whatever range is requested, and 404 without a ticket", async () => {
    const { get } = start(alphabet);
    expect((await get({ range: "bytes=1-2" }, "/files/good/view")).body).toBe(alphabet.toString());
    expect((await get({}, "/files/bad/view")).statusCode).toBe(404);
  });

  test("is not read by HEAD", async () => {
    const { reads } = start(alphabet);
    const head = await server.fastify.inject({ method: "HEAD", url: "/files/good/view" });
    expect([head.statusCode, reads]).toEqual([405, []]);
  });
});

describe("all files as one archive", () => {
  test("is sent with its length, each file read once", async () => {
    const { get, opened, reads } = start(alphabet);
    const answer = await get({}, "/files/zip/good1.good2");
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "application/zip",
      "content-disposition": 'attachment; filename="files.zip"',
      "content-length": String(answer.rawPayload.length),
    });
    expect(answer.rawPayload.subarray(0, 4).toString("latin1")).toBe("PK\x03\x04");
    expect(answer.body).toContain("a (2).txt");
    expect(opened.map(({ ticket }) => ticket)).toEqual(["good1", "good2"]);
    expect(reads).toHaveLength(2);
    const head = await server.fastify.inject({ method: "HEAD", url: "/files/zip/good1.good2" });
    expect([head.headers["content-length"], head.body]).toEqual([answer.headers["content-length"], ""]);
    expect(reads).toHaveLength(2);
  });

  test("is whole and promises no ranges, whatever range is requested", async () => {
    const { get } = start(alphabet);
    const whole = await get({}, "/files/zip/good1.good2");
    const answer = await get({ range: "bytes=10-" }, "/files/zip/good1.good2");
    expect([answer.statusCode, answer.rawPayload]).toEqual([200, whole.rawPayload]);
    for (const { headers } of [whole, answer]) {
      expect(["accept-ranges", "content-range", "etag"].filter((name) => name in headers)).toEqual([]);
    }
  });

  test("is 404 if one ticket is invalid, or there are too many", async () => {
    const { get, reads } = start(alphabet);
    for (const tickets of ["good.bad", "bad.good", "good.", Array(101).fill("good").join(".")]) {
      expect((await get({}, `/files/zip/${tickets}`)).statusCode).toBe(404);
    }
    expect(reads).toEqual([]);
  });

  test("is refused if the first file cannot be read", async () => {
    const answer = await start(alphabet, {}, 5).get({}, "/files/zip/good1.good2");
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "60"]);
  });

  test("is cut if a file is damaged after its start", async () => {
    start(alphabet, {}, 15);
    const origin = await server.fastify.listen({ host: "127.0.0.1", port: 0 });
    const answer = await fetch(`${origin}/files/zip/good1.good2`);
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });
});

test("a file name is a quoted text without a character that quotes another one, and the real name beside it", () => {
  expect(attachment("plan (1).pdf")).toBe('attachment; filename="plan (1).pdf"');
  expect(attachment('a\\"*\u00fc.txt')).toBe(`attachment; filename="a__*_.txt"; filename*=UTF-8''a%5C%22%2A%C3%BC.txt`);
});
