import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientAt } from "../support/accounts.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { commonAnswer } from "../support/push-answers.ts";

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("owner@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

const json = { "content-type": "application/json" };

async function create(push: unknown, headers: Record<string, string> = {}) {
  const payload = JSON.stringify({ push });
  return await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers: { ...json, ...headers }, payload });
}

async function send(payload: string | Buffer, headers: Record<string, string>) {
  return await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload });
}

async function reveal(urlToken: string): Promise<unknown> {
  return (await app.server.inject({ url: `/api/v2/pushes/${urlToken}` })).json().payload;
}

test("the response has exactly the keys of the contract", async () => {
  const answer = await create(
    { payload: "secret", passphrase: "open", name: "n", note: "o" },
    { authorization: `Bearer ${token}` },
  );
  expect(answer.statusCode).toBe(201);
  const push = answer.json();
  expect(push).toEqual({
    ...commonAnswer(push.url_token),
    kind: "text",
    expires_at: "2026-01-22T12:00:00.000Z",
    name: "n",
    note: "o",
    sender_shown: false,
  });
});

test("without a retrieval step, html_url is the push itself", async () => {
  const push = (await create({ payload: "x", retrieval_step: false })).json();
  expect(push.html_url).toBe(`http://localhost/p/${push.url_token}`);
  expect(push.passphrase).toBe("");
});

test("the response names the kind of the push: text, qr, url or file", async () => {
  expect((await create({ payload: "x" })).json().kind).toBe("text");
  expect((await create({ payload: "x", kind: "qr" })).json().kind).toBe("qr");
  expect((await create({ payload: "HTTPS://example.com/a?b#c", kind: "url" })).json()).toMatchObject({
    kind: "url",
    deletable_by_viewer: false,
  });
  const files = [{ filename: "a.txt", data: "aGVsbG8=" }];
  expect((await create({ files }, { authorization: `Bearer ${token}` })).json().kind).toBe("file");
});

describe("the encodings that clients use", () => {
  const form = "push[payload]=a+b%26%C3%A9%0D%0A&push[expire_after_views]=3&push[retrieval_step]=on";

  test("urlencoded", async () => {
    const answer = await send(form, { "content-type": "application/x-www-form-urlencoded" });
    expect(answer.json()).toMatchObject({ expire_after_views: 3, retrieval_step: true });
    expect(await reveal(answer.json().url_token)).toBe("a b&é\r\n");
  });

  test("a form without a type", async () => {
    const answer = await send(form, {});
    expect(answer.statusCode).toBe(201);
    expect(await reveal(answer.json().url_token)).toBe("a b&é\r\n");
  });

  test("multipart", async () => {
    const body = new FormData();
    body.set("push[payload]", "line\nend 😀");
    body.set("push[expire_after_days]", "2");
    const request = new Request("http://localhost/", { method: "POST", body });
    const answer = await send(Buffer.from(await request.arrayBuffer()), {
      "content-type": request.headers.get("content-type") ?? "",
    });
    expect(answer.json()).toMatchObject({ expire_after_days: 2 });
    expect(await reveal(answer.json().url_token)).toBe("line\r\nend 😀");
  });

  test("JSON with a charset and a .json address", async () => {
    const answer = await app.server.inject({
      method: "POST",
      url: "/api/v2/pushes.json",
      headers: { "content-type": "Application/JSON; charset=UTF-8", accept: "text/html" },
      payload: '{"push":{"payload":"\\u0000\\ud83d\\ude00"}}',
    });
    expect(answer.statusCode).toBe(201);
    expect(answer.headers["content-type"]).toContain("application/json");
    expect(await reveal(answer.json().url_token)).toBe("\u0000😀");
  });
});

describe("a payload of the maximum length is accepted in every encoding", () => {
  const longest = "😀".repeat(1_048_576);

  test("JSON with every character escaped", async () => {
    const escaped = "\\ud83d\\ude00".repeat(1_048_576);
    const answer = await send(`{"push":{"payload":"${escaped}"}}`, json);
    expect(answer.statusCode).toBe(201);
    expect((await reveal(answer.json().url_token)) === longest).toBe(true);
  });

  test("percent-encoded", async () => {
    const answer = await send(`push[payload]=${"%F0%9F%98%80".repeat(1_048_576)}`, {});
    expect(answer.statusCode).toBe(201);
    expect((await reveal(answer.json().url_token)) === longest).toBe(true);
  });

  test("multipart", async () => {
    const part = `--b\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n${longest}\r\n--b--`;
    const answer = await send(Buffer.from(part), { "content-type": "multipart/form-data; boundary=b" });
    expect(answer.statusCode).toBe(201);
    expect((await reveal(answer.json().url_token)) === longest).toBe(true);
  });

  test("a payload beyond 4 MiB is answered with 413, one with too many characters with 422", async () => {
    expect((await create({ payload: `${longest}a` })).statusCode).toBe(413);
    const tooMany = await create({ payload: "a".repeat(1_048_577) });
    expect([tooMany.statusCode, Object.keys(tooMany.json())]).toEqual([422, ["payload"]]);
    expect((await create({ payload: "a".repeat(1_048_576) })).statusCode).toBe(201);
    expect((await send(Buffer.alloc(27 * 1024 * 1024, 0x20), json)).statusCode).toBe(413);
    expect((await send(Buffer.alloc(15 * 1024 * 1024, 0x61), {})).statusCode).toBe(413);
    const field = `--b\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n${"a".repeat(7_000_000)}\r\n--b--`;
    expect((await send(field, { "content-type": "multipart/form-data; boundary=b" })).statusCode).toBe(413);
  });
});

test.each([
  ["invalid JSON", "{", json, 400],
  ["an empty body", "", json, 400],
  ["JSON null", "null", json, 400],
  ["a JSON array", "[]", json, 400],
  ["no key push and no field of a push", '{"data":"x"}', json, 400],
  ["push is a string", '{"push":"x"}', json, 400],
  ["push is an array", '{"push":[]}', json, 400],
  ["push is inherited through __proto__", '{"__proto__":{"push":{"payload":"x"}}}', json, 400],
  ["bytes that are not UTF-8", Buffer.from('{"push":{"payload":"\xff"}}', "latin1"), json, 400],
  ["a form without push", "payload=x", {}, 400],
  ["a form with broken percent-encoding", "push[payload]=%ff", {}, 400],
  ["multipart without a boundary", "x", { "content-type": "multipart/form-data" }, 400],
  ["multipart without a final boundary", "--b\r\n", { "content-type": "multipart/form-data; boundary=b" }, 400],
  ["plain text", "x", { "content-type": "text/plain" }, 415],
  ["XML", "<x/>", { "content-type": "application/xml" }, 415],
  ["no media type at all", "x", { "content-type": ";;;" }, 415],
  ["an unknown charset", "{}", { "content-type": "application/json; charset=utf-7" }, 415],
  ["bytes that are not of the charset", "{}x", { "content-type": "application/json; charset=utf-16" }, 400],
  ["a compressed body", "x", { ...json, "content-encoding": "gzip" }, 415],
] as const)("a malformed body is refused: %s", async (_, body, headers, status) => {
  const answer = await send(body, headers);
  expect(answer.statusCode).toBe(status);
  expect(answer.json()).toEqual({ error: expect.any(String) });
});

test.each([
  [{}, ["payload"]],
  [{ payload: "" }, ["payload"]],
  [{ payload: true }, ["payload"]],
  [{ payload: "\ud800" }, ["payload"]],
  [{ payload: "x", kind: "nonsense" }, ["kind"]],
  [{ payload: "x", expire_after_days: 0 }, ["expire_after_days"]],
  [{ payload: "x", expire_after_days: 91 }, ["expire_after_days"]],
  [{ payload: "x", expire_after_days: -1 }, ["expire_after_days"]],
  [{ payload: "x", expire_after_days: 1.5 }, ["expire_after_days"]],
  [{ payload: "x", expire_after_days: 1e308 }, ["expire_after_days"]],
  [{ payload: "x", expire_after_days: "NaN" }, ["expire_after_days"]],
  [{ payload: "x", expire_after_views: 101 }, ["expire_after_views"]],
  [{ payload: "x", expire_after_views: 0, expire_after_days: 0 }, ["expire_after_days", "expire_after_views"]],
  [{ payload: "x", expire_after_duration: 18 }, ["expire_after_duration"]],
  [{ payload: "x".repeat(1_025), kind: "qr" }, ["payload"]],
  [{ payload: "javascript:alert(1)", kind: "url" }, ["payload"]],
  [{ payload: " https://example.com", kind: "url" }, ["payload"]],
  [{ payload: "data:text/html,x", kind: "url" }, ["payload"]],
  [{ payload: "x", name: "n".repeat(2_049) }, ["name"]],
] as const)("%j is answered with 422, errors on %j", async (push, fields) => {
  const answer = await create(push);
  expect(answer.statusCode).toBe(422);
  expect(Object.keys(answer.json()).sort()).toEqual([...fields].sort());
  for (const problems of Object.values(answer.json())) expect(problems).toEqual([expect.any(String)]);
});

test("a value out of range is refused with the allowed range, not clamped", async () => {
  expect((await create({ payload: "x", expire_after_days: 400 })).json().expire_after_days[0]).toContain(
    "between 1 and 90",
  );
});

test("expire_after_duration takes precedence over expire_after_days, which is rounded up", async () => {
  const push = (await create({ payload: "x", expire_after_duration: "3", expire_after_days: 9 })).json();
  expect(push).toMatchObject({ expire_after_days: 1, expires_at: "2026-01-15T13:00:00.000Z" });
});

describe("authentication", () => {
  test.each([
    [{ payload: "x", files: [] }],
    [{ payload: "x", files: [{ filename: "a", data: "" }] }],
    [{ payload: "x", kind: "file" }],
    [{ payload: "x", files: "misshapen" }],
    [{ payload: "x", files: { "0": { filename: "a", data: "" } } }],
    [{ payload: 1, kind: "file", expire_after_days: 1_000 }],
  ])("creating %j needs a token", async (push) => {
    const answer = await create(push);
    expect([answer.statusCode, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
  });

  test.each(["push[files][]=", "push[files]=a", "push[files][0]=a", "push[files][0][filename]=a"])(
    "creating from a form with %s needs a token",
    async (field) => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const payload = `push[payload]=x&${field}`;
      const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload });
      expect(answer.statusCode).toBe(401);
    },
  );

  test("an invalid token is answered with 401, even where no token is needed", async () => {
    expect((await create({ payload: "x" }, { authorization: "Bearer nonsense" })).statusCode).toBe(401);
  });

  test("a session cookie does not authenticate API requests", async () => {
    const { accounts } = app.app.domain;
    const session = await accounts.signIn({
      email: "owner@example.com",
      password: password,
      client: clientAt("192.0.2.1"),
    });
    const cookie = `sealpush_session=${session?.sessionToken}`;
    expect((await create({ payload: "x", files: [] }, { cookie })).statusCode).toBe(401);
  });
});

test("without anonymous access, every endpoint except the version needs a token", async () => {
  await using closed = await startTestApp({ environment: { PWP__ALLOW_ANONYMOUS: "false" } });
  const status = async (url: string, method: "GET" | "POST" | "DELETE" = "GET") =>
    (await closed.server.inject({ method, url, headers: json, ...(method === "POST" ? { payload: "{}" } : {}) }))
      .statusCode;
  expect(await status("/api/v2/version")).toBe(200);
  expect(await status("/api/v2/pushes", "POST")).toBe(401);
  expect(await status("/api/v2/pushes/abc")).toBe(401);
  expect(await status("/p/abc.json")).toBe(401);
  expect(await status("/api/v2/pushes/abc/preview")).toBe(401);
  expect(await status("/api/v2/pushes/abc", "DELETE")).toBe(401);
  expect(await status("/api/v2/openapi.json")).toBe(401);
  expect((await closed.server.inject({ url: "/api/v2/version" })).json().features).toMatchObject({
    anonymous_access: false,
    pushes: { file_attachments: { requires_authentication: true } },
  });
});

test("creating a push of a disabled kind is answered with 422 on kind", async () => {
  await using small = await startTestApp({
    environment: { PWP__ENABLE_URL_PUSHES: "false", PWP__ENABLE_QR_PUSHES: "false", PWP__ENABLE_FILE_PUSHES: "false" },
  });
  const { features } = (await small.server.inject({ url: "/api/v2/version.json" })).json();
  expect(features.pushes).toMatchObject({
    file_attachments: { enabled: false },
    url_pushes: { enabled: false },
    qr_code_pushes: { enabled: false },
  });
  const headers = { ...json, authorization: `Bearer ${await small.makeToken("a@example.com")}` };
  for (const push of [
    { payload: "https://a.example", kind: "url" },
    { payload: "x", kind: "qr" },
    { files: [{ filename: "a", data: "" }] },
  ]) {
    const answer = await small.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } });
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([422, ["kind"]]);
  }
});
