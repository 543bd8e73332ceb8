import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CreatePushFields } from "../../src/http/push-fields.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { rawRequest } from "../support/raw-request.ts";

let app: TestApp;
let origin: string;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  origin = await app.listen();
  token = await app.makeToken("owner@example.com");
});
afterAll(async () => {
  expect(app.logLines.filter((line) => line.includes("unexpected_error"))).toEqual([]);
  await app[Symbol.asyncDispose]();
});

const runs = { numRuns: 300 };

/** Expects no 5xx except 503, always a request id, and JSON on API paths. */
function expectOrder(status: number, headers: Readonly<Record<string, unknown>>, url: string): void {
  expect(status === 503 || status < 500, `${status} at ${url}`).toBe(true);
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{16}$/);
  expect(headers["x-content-type-options"]).toBe("nosniff");
  // The injecting client resolves dots, which may lead out of /api/.
  const isApi = url.startsWith("/api/") && URL.parse(url, "http://localhost")?.pathname.startsWith("/api/") === true;
  if (isApi && status >= 400) expect(headers["content-type"]).toBe("application/json; charset=utf-8");
}

const oddScalars = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "\u0000",
    "\ud800",
    "😀",
    "__proto__",
    "' OR 1=1 --",
    "<script>",
    "../../x",
    "true",
    "5",
    "-1",
    "1e999",
  ),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const oddValues = fc.oneof(
  oddScalars,
  fc.array(oddScalars, { maxLength: 3 }),
  fc.dictionary(fc.string(), oddScalars, { maxKeys: 3 }),
);
const fieldNames = Object.keys(CreatePushFields.properties);

test("any values in the fields of a push", async () => {
  expect(fieldNames).toContain("payload");
  const push = fc.dictionary(
    fc.oneof(fc.constantFrom(...fieldNames, "__proto__", "constructor"), fc.string()),
    oddValues,
  );
  await fc.assert(
    fc.asyncProperty(push, fc.boolean(), async (fields, signedIn) => {
      const headers = signedIn ? { authorization: `Bearer ${token}` } : {};
      const payload = { push: fields };
      const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload });
      expectOrder(answer.statusCode, answer.headers, "/api/v2/pushes");
      expect([201, 401, 413, 422]).toContain(answer.statusCode);
      if (answer.statusCode !== 201) return;
      const { url_token, expire_after_days, expire_after_views, expires_at } = answer.json();
      expect(
        expire_after_days >= 1 && expire_after_days <= 90 && expire_after_views >= 1 && expire_after_views <= 100,
      ).toBe(true);
      expect(Number.isNaN(Date.parse(expires_at))).toBe(false);
      const isText = typeof fields.passphrase === "string" || typeof fields.passphrase === "number";
      const passphrase = isText ? encodeURIComponent(String(fields.passphrase)) : "";
      const revealed = await app.server.inject({ url: `/api/v2/pushes/${url_token}?passphrase=${passphrase}` });
      const sent = typeof fields.payload === "number" ? JSON.stringify(fields.payload) : (fields.payload ?? "");
      expect(revealed.json().payload ?? "").toBe(sent);
    }),
    runs,
  );
});

test("any body under any type", async () => {
  const types = fc.constantFrom(
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
    "multipart/form-data",
    "",
    "text/plain",
    "application/json; charset=latin1",
    "*/*",
    "multipart/mixed; boundary=b",
    ";",
    "a/b; c",
  );
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    fc.webQueryParameters().map((text) => Buffer.from(text)),
    fc
      .array(
        fc.constantFrom(
          "--b",
          "\r\n",
          "\r\n\r\n",
          "--b--",
          'Content-Disposition: form-data; name="push[payload]"',
          "x",
          "\n",
          'Content-Disposition: form-data; name="push[files][]"; filename="a"',
          "Content-Type: text/html",
          "\u0000",
        ),
        { maxLength: 12 },
      )
      .map((parts) => Buffer.from(parts.join(""))),
  );
  const paths = fc.constantFrom(
    "/api/v2/pushes",
    "/p",
    "/users/sign_in",
    "/p/abc/r",
    "/p/abc/expire",
    "/users/token",
    "/users/sign_out",
  );
  await fc.assert(
    fc.asyncProperty(paths, types, bodies, async (url, type, payload) => {
      const headers = { ...(type === "" ? {} : { "content-type": type }), authorization: `Bearer ${token}` };
      const answer = await app.server.inject({ method: "POST", url, headers, payload });
      expectOrder(answer.statusCode, answer.headers, url);
    }),
    runs,
  );
});

test("a form with a text that is too long for any push is shown again without that text and with the other fields", async () => {
  const send = (payload: string) => {
    const body = new URLSearchParams({
      "push[kind]": "text",
      "push[payload]": payload,
      "push[expire_after_days]": "999",
    });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return app.server.inject({ method: "POST", url: "/p", headers, payload: body.toString() });
  };
  const longest = await send("<".repeat(1_048_576));
  expect(longest.statusCode).toBe(422);
  expect(longest.body).toContain("&lt;".repeat(1_048_576));
  const tooLong = await send("<".repeat(4 * 1_048_576));
  expect(tooLong.statusCode).toBe(422);
  expect(tooLong.body.length).toBeLessThan(100_000);
  expect(tooLong.body).toContain('value="999"');
});

test("a form's line ends become line feeds, and nothing else changes", async () => {
  const text = "a\r\n\r\r\n\n\r\né😀\r";
  const body = new URLSearchParams({ "push[kind]": "text", "push[payload]": text, "push[retrieval_step]": "0" });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const created = await app.server.inject({ method: "POST", url: "/p", headers, payload: body.toString() });
  expect(created.statusCode).toBe(303);
  const token = /^\/p\/([^/]+)\/preview/.exec(String(created.headers.location))?.[1];
  const revealed = await app.server.inject({ url: `/api/v2/pushes/${token}` });
  expect(revealed.json().payload).toBe("a\n\r\n\n\né😀\r");
});

test("any path, query and header", async () => {
  const pieces = fc.oneof(
    fc.constantFrom(
      "api",
      "v2",
      "pushes",
      "p",
      "files",
      "assets",
      "users",
      "token",
      "active",
      "r",
      "preview",
      "audit",
      "help",
      "..",
      ".",
    ),
    fc.constantFrom(
      "%00",
      "%zz",
      "%2e%2e%2f",
      "%ff",
      "%",
      "a".repeat(3_000),
      ":url_token",
      "*",
      "abc.json",
      "1;2",
      "~",
      "é",
    ),
    fc.webSegment(),
  );
  const paths = fc.array(pieces, { maxLength: 6 }).map((parts) => `/${parts.join("/")}`);
  const queries = fc.oneof(
    fc.constant(""),
    fc.webQueryParameters().map((query) => `?${query}`),
    fc.constantFrom("?", "?page=%00", "?passphrase=%ff&locale[]=x", "?__proto__=1"),
  );
  const headerNames = fc.constantFrom(
    "authorization",
    "x-user-email",
    "x-user-token",
    "cookie",
    "range",
    "if-range",
    "accept-language",
    "referer",
    "user-agent",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-push-passphrase",
    "origin",
    "sec-fetch-site",
    "host",
    "accept-version",
  );
  const headerValues = fc.oneof(
    fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 200 }),
    fc.constantFrom(
      "Bearer x",
      "sealpush_session=x",
      "bytes=0-0",
      "bytes=-9",
      "::1, 10.0.0.1",
      "https",
      "é".repeat(50),
      ",".repeat(5_000),
      "null",
    ),
  );
  const methods = fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND");
  await fc.assert(
    fc.asyncProperty(
      methods,
      paths,
      queries,
      fc.dictionary(headerNames, headerValues, { maxKeys: 5 }),
      async (method, path, query, headers) => {
        const answer = await app.server.inject({ method: method as "GET", url: `${path}${query}`, headers });
        expectOrder(answer.statusCode, answer.headers, path);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("any bytes on the connection", async () => {
  const lines = fc.constantFrom(
    "GET /api/v2/version HTTP/1.1",
    "POST /api/v2/pushes HTTP/1.1",
    "BREW / HTTP/1.1",
    "GET  / HTTP/9.9",
    "GET /",
    "Host: a",
    "Host: b",
    "Content-Length: 5",
    "Content-Length: x",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: cow",
    "Expect: 100-continue",
    "Connection: close",
    "Upgrade: websocket",
    "",
    "0",
    "5",
    "{}",
    "a: \u0000",
    ": x",
    "x".repeat(20_000),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(lines, { maxLength: 10 }), async (parts) => {
      const request = `${parts.join("\r\n")}\r\n\r\nGET /up HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n${"\r\n\r\n"}`;
      const answer = await rawRequest(origin, Buffer.from(`${request}BAD\r\n\r\n`, "latin1"));
      for (const [, status] of answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)) expect(Number(status)).toBeLessThan(500);
    }),
    { numRuns: 150 },
  );
  expect((await fetch(`${origin}/up`)).status).toBe(200);
});

test.each([
  ["different", "push.example", "evil.example"],
  ["equal", "push.example", "push.example"],
])("a request with two Host headers is refused, if they are %s", async (_which, first, second) => {
  for (const line of ["GET /", "GET /up", "GET /api/v2/version", "GET /assets/none.js", "POST /p", "GET /unknown"]) {
    const hosts = `Host: ${first}\r\nhOsT: ${second}\r\n`;
    const answer = await rawRequest(origin, `${line} HTTP/1.1\r\n${hosts}\r\n`);
    expect(answer, line).toMatch(/^HTTP\/1\.1 400 /);
    if (line.includes("/api/")) expect(answer).toContain("The request has more than one Host header.");
  }
});

test("several Authorization headers are no valid token, unless they are equal", async () => {
  const good = `Bearer ${token}`;
  const statusOf = async (...values: readonly string[]) => {
    const lines = values.map((value, at) => `${at === 0 ? "Authorization" : "AUTHORIZATION"}: ${value}\r\n`).join("");
    const request = `GET /api/v2/pushes/active HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`;
    return /^HTTP\/1\.1 (\d{3})/.exec(await rawRequest(origin, request))?.[1];
  };
  expect(await Promise.all([statusOf(good), statusOf(good, good)])).toEqual(["200", "200"]);
  for (const [first, second] of [
    [good, "Bearer bad"],
    ["Bearer bad", good],
    [good, ""],
    [good, token],
  ] as const) {
    expect([first, second, await statusOf(first, second)]).toEqual([first, second, "401"]);
  }
});

test.each([
  ["chunked", "201"],
  ["Chunked", "201"],
  ["gzip, chunked", "415"],
  ["deflate,chunked", "415"],
])("a body with Transfer-Encoding: %s is answered with %s", async (coding, status) => {
  const body = '{"push":{"payload":"x"}}';
  const head = `POST /api/v2/pushes HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n`;
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const answer = await rawRequest(origin, `${head}Transfer-Encoding: ${coding}\r\n\r\n${chunks}`);
  expect(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]).toBe(status);
});
