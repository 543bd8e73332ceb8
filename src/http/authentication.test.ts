import { afterEach, describe, expect, test } from "vitest";
import {
  type BareServer,
  goodSession,
  goodToken,
  owner,
  startBareServer,
  waitingSession,
} from "../../test/support/http-server.ts";
import { receiveBody } from "./body/receive-body.ts";
import { sendJson } from "./headers.ts";
import type { RouteAccess } from "./request.ts";

let server: BareServer;
afterEach(() => server.fastify.close());

const accesses: readonly RouteAccess[] = [
  "public",
  "api",
  "api_token",
  "api_requester",
  "page",
  "page_entry",
  "page_creator",
  "page_requester",
  "page_session",
];

function start(environment: Readonly<Record<string, string>> = {}): BareServer["fastify"] {
  server = startBareServer(environment);
  for (const access of accesses) {
    const scope = access.startsWith("api") ? { scope: null } : {};
    const answer = { access, group: "internal" as const, ...scope, changesState: false };
    server.fastify.get(`/api/${access}`, { config: answer }, (request, reply) =>
      sendJson(reply, 200, { user: request.actor.user, email: request.user?.email ?? null }),
    );
    server.fastify.post(
      `/api/${access}`,
      { config: { access, group: "internal" as const, ...scope, changesState: true } },
      (_request, reply) => sendJson(reply, 200, {}),
    );
  }
  return server.fastify;
}

const signedIn = { cookie: `other=1; sealpush_session=${goodSession}` };
const bearer = { authorization: `Bearer ${goodToken}` };
const badBearer = { authorization: "Bearer sp_bad" };
const known = { user: { id: owner.id, admin: false }, email: owner.email };
const nobody = { user: null, email: null };

async function ask(access: RouteAccess, headers: Record<string, string>) {
  const answer = await server.fastify.inject({ url: `/api/${access}`, headers });
  return answer.statusCode === 200 ? answer.json() : answer.statusCode;
}

describe("with anonymous use", () => {
  test.each<[RouteAccess, unknown, unknown, unknown, unknown]>([
    // Columns: access, then the results without credentials, with a good token, a bad token, and a session cookie.
    ["public", nobody, nobody, nobody, nobody],
    ["api", nobody, known, 401, nobody],
    ["api_token", 401, known, 401, 401],
    ["api_requester", 401, known, 401, 401],
    ["page", nobody, nobody, nobody, known],
    ["page_entry", nobody, nobody, nobody, known],
    ["page_creator", nobody, nobody, nobody, known],
    ["page_requester", 303, 303, 303, known],
    ["page_session", 303, 303, 303, known],
  ])("%s", async (access, plain, good, bad, session) => {
    start();
    expect(await ask(access, {})).toEqual(plain);
    expect(await ask(access, bearer)).toEqual(good);
    expect(await ask(access, badBearer)).toEqual(bad);
    expect(await ask(access, signedIn)).toEqual(session);
    expect(await ask(access, { cookie: "sealpush_session=forged" })).toEqual(plain);
  });
});

test("without anonymous use, the API and the pages that create pushes need a user", async () => {
  start({ PWP__ALLOW_ANONYMOUS: "false" });
  expect(await ask("public", {})).toEqual(nobody);
  expect(await ask("api", {})).toBe(401);
  expect(await ask("api", bearer)).toEqual(known);
  expect(await ask("page", {})).toEqual(nobody);
  expect(await ask("page_creator", {})).toBe(303);
  expect(await ask("page_creator", signedIn)).toEqual(known);
});

test("with requests without an account, the API and the pages of requests need no user", async () => {
  start({ PWP__REQUESTS__ALLOW_ANONYMOUS: "true" });
  expect(await ask("api_requester", {})).toEqual(nobody);
  expect(await ask("api_requester", badBearer)).toBe(401);
  expect(await ask("page_requester", {})).toEqual(nobody);
  expect(await ask("page_requester", signedIn)).toEqual(known);
  expect(await ask("api_token", {})).toBe(401);
  expect(await ask("page_session", {})).toBe(303);
  start({ PWP__REQUESTS__ALLOW_ANONYMOUS: "true", PWP__ALLOW_ANONYMOUS: "false" });
  expect(await ask("api_requester", {})).toBe(401);
  expect(await ask("page_requester", {})).toBe(303);
});

test.each<[string, Record<string, string>, unknown]>([
  ["Bearer in any case", { authorization: `bearer  ${goodToken} ` }, known],
  ["Token", { authorization: `Token ${goodToken}` }, known],
  ["the token alone", { authorization: goodToken }, known],
  ["X-User-Token alone", { "x-user-token": goodToken }, known],
  ["the older pair of anybody", { "x-user-token": goodToken, "x-user-email": "recipient@example.com" }, known],
  ["the older pair beside an invalid Bearer", { "x-user-token": goodToken, "x-user-email": "", ...badBearer }, known],
  ["an invalid older pair beside a valid Bearer", { "x-user-token": "bad", "x-user-email": "", ...bearer }, 401],
  ["an invalid X-User-Token beside a valid Bearer", { "x-user-token": "bad", ...bearer }, known],
  ["X-User-Token beside an invalid Bearer", { "x-user-token": goodToken, ...badBearer }, 401],
  ["a blank Authorization beside X-User-Token", { "x-user-token": goodToken, authorization: "" }, known],
  ["a blank older pair beside Bearer", { "x-user-token": "", "x-user-email": "", ...bearer }, known],
  ["an invalid X-User-Token", { "x-user-token": "bad" }, 401],
  ["a blank X-User-Token", { "x-user-token": "" }, 401],
  ["a blank Authorization", { authorization: "" }, 401],
  ["Bearer without a token", { authorization: "Bearer " }, 401],
  ["another scheme", { authorization: "Basic dTpw" }, 401],
  ["a scheme behind the token", { authorization: `Bearer ${goodToken} x` }, 401],
  ["a long token", { authorization: `Bearer ${"x".repeat(9_000)}` }, 401],
  ["X-User-Email alone", { "x-user-email": owner.email }, nobody],
])("an API credential is valid or refused, never ignored: %s", async (_, headers, result) => {
  start();
  expect(await ask("api", headers)).toEqual(result);
});

test("a page that needs a session redirects to the sign-in page and back", async () => {
  const fastify = start();
  const get = await fastify.inject({ url: "/api/page_session?a=b" });
  expect(get.headers.location).toBe("/users/sign_in?next=%2Fapi%2Fpage_session%3Fa%3Db");
  const german = await fastify.inject({ url: "/api/page_session?locale=de" });
  expect(german.headers.location).toBe("/users/sign_in?next=%2Fapi%2Fpage_session%3Flocale%3Dde&locale=de");
  const post = await fastify.inject({ method: "POST", url: "/api/page_session" });
  expect([post.statusCode, post.headers.location]).toEqual([303, "/users/sign_in"]);
});

describe("a page's state change", () => {
  const https = { "x-forwarded-proto": "https", "x-forwarded-host": "push.example" };
  const secureCookie = { cookie: `__Host-sealpush_session=${goodSession}` };

  test.each<[string, Record<string, string>, number]>([
    ["its own form", { "sec-fetch-site": "same-origin" }, 200],
    ["typed by a person", { "sec-fetch-site": "none" }, 200],
    ["another site", { "sec-fetch-site": "cross-site" }, 403],
    ["a sibling", { "sec-fetch-site": "same-site" }, 403],
    [
      "another site, with an Origin that looks right",
      { "sec-fetch-site": "cross-site", origin: "http://push.example" },
      403,
    ],
    ["its own Origin", { origin: "http://push.example" }, 200],
    ["a foreign Origin", { origin: "http://evil.example" }, 403],
    ["its own host under another scheme", { origin: "https://push.example" }, 403],
    ["its own https Origin", { ...https, origin: "https://push.example" }, 200],
    ["its own host on another port", { origin: "http://push.example:8080" }, 403],
    ["no word, no cookie", {}, 200],
    ["null Origin, no cookie", { origin: "null" }, 200],
    ["null Origin with a cookie of no valid session", { origin: "null", cookie: "sealpush_session=ended" }, 200],
    ["null Origin over http with a session (no-referrer makes it so)", { origin: "null", ...signedIn }, 403],
    ["no origin headers over http with a session", signedIn, 403],
    ["null Origin over https with a session", { ...https, origin: "null", ...secureCookie }, 403],
    ["no origin headers over https with a session", { ...https, ...secureCookie }, 403],
  ])("%s", async (_, headers, status) => {
    const answer = await start().inject({
      method: "POST",
      url: "/api/page",
      headers: { host: "push.example", ...headers },
    });
    expect(answer.statusCode).toBe(status);
  });

  describe("with a session but without headers that prove its origin", () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const multipart = { "content-type": "multipart/form-data; boundary=b" };
    const part = (name: string, text: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
    const file = `--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nx\r\n`;
    const right = "form_token=form-token&a=1";

    test.each<[string, Record<string, string>, string, number]>([
      ["the form token of its session", form, right, 200],
      ["the token in parts", multipart, `${part("form_token", "form-token")}--b--`, 200],
      ["no form at all", {}, "", 403],
      ["another token", form, "form_token=form-tokem", 403],
      ["an empty token", form, "form_token=", 403],
      ["a list of tokens", form, "form_token[]=form-token", 403],
      [
        "the token as a header or in another body",
        { "content-type": "application/json" },
        '{"form_token":"form-token"}',
        403,
      ],
      ["parts without the token", multipart, `${part("a", "1")}--b--`, 403],
      ["a file before the token", multipart, `${file}${part("form_token", "form-token")}--b--`, 403],
    ])("%s", async (_, headers, payload, status) => {
      for (const secure of [{ ...signedIn }, { ...https, ...secureCookie }]) {
        const answer = await start().inject({
          method: "POST",
          url: "/api/page",
          headers: { host: "push.example", ...secure, ...headers },
          payload,
        });
        expect(answer.statusCode).toBe(status);
        await server.fastify.close();
      }
    });

    test("a handler that takes files gets none before the form token is checked, and reads the whole form", async () => {
      const fastify = start();
      const seen: string[] = [];
      const config = { access: "page", group: "internal", changesState: true, streamsFiles: true } as const;
      fastify.post("/api/files", { config }, async (request, reply) => {
        const body = await receiveBody(request, server.bodyIntake, async ({ filename, content }) => {
          for await (const chunk of content) seen.push(`${filename}:${String(chunk)}`);
        });
        sendJson(reply, 200, body);
      });
      const send = (payload: string, headers: Record<string, string> = multipart) =>
        fastify.inject({ method: "POST", url: "/api/files", headers: { ...signedIn, ...headers }, payload });
      expect((await send(`${file}${part("form_token", "form-token")}--b--`)).statusCode).toBe(403);
      expect((await send(`${part("form_token", "wrong")}${file}--b--`)).statusCode).toBe(403);
      expect((await send("a=1", form)).statusCode).toBe(403);
      expect(seen).toEqual([]);
      const good = await send(`${part("form_token", "form-token")}${file}${part("a", "1")}--b--`);
      expect(good.json()).toMatchObject({ value: { a: "1" } });
      expect(seen).toEqual(["f:x"]);
      expect((await send(right, form)).json()).toMatchObject({ value: { a: "1" } });
    });

    test("a sign-in that waits for its factor needs the form token of its session", async () => {
      const fastify = start();
      fastify.post(
        "/api/waiting",
        { config: { access: "page_waiting", group: "internal", changesState: true } },
        (_request, reply) => sendJson(reply, 200, {}),
      );
      const cookie = `sealpush_session=${waitingSession}`;
      const send = (url: string, payload: string) =>
        fastify.inject({ method: "POST", url, headers: { cookie, ...form }, payload });
      for (const url of ["/api/waiting", "/api/page"]) {
        expect((await send(url, "form_token=form-token")).statusCode).toBe(403);
        expect((await send(url, "form_token=waiting-form-token")).statusCode).toBe(200);
      }
    });
  });

  test("API routes need no form token, since they read no cookie", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "http://evil.example" };
    const answer = await start().inject({ method: "POST", url: "/api/api", headers });
    expect(answer.statusCode).toBe(200);
  });
});

test("names and attributes of session cookies depend on the settings and on how the request arrived", async () => {
  const client = (https: boolean) => ({
    address: "192.0.2.1",
    key: "192.0.2.1",
    https,
    host: "push.example",
    fromTrustedProxy: false,
  });
  const cookies = (setting: string, baseUrl = "", more = {}) => {
    server = startBareServer({ PWP__SECURE_COOKIES: setting, PWP__OVERRIDE_BASE_URL: baseUrl, ...more });
    return server.sessionCookies;
  };
  const secure = "__Host-sealpush_session=t; Path=/; HttpOnly; SameSite=Lax; Secure";
  const plain = "sealpush_session=t; Path=/; HttpOnly; SameSite=Lax";
  expect(cookies("auto").made("t", client(true))).toBe(secure);
  expect(cookies("auto").made("t", client(false))).toBe(plain);
  const strict = secure.replace("Lax", "Strict");
  expect(cookies("true").made("t", client(false))).toBe(strict);
  expect(cookies("false").made("t", client(true))).toBe(plain);
  for (const setting of ["auto", "false"]) {
    expect(cookies(setting, "https://push.example").made("t", client(false))).toBe(secure);
  }
  expect(cookies("true", "https://push.example").made("t", client(false))).toBe(strict);
  const oidc = { PWP__OIDC__ISSUER: "https://id.example", PWP__OIDC__CLIENT_ID: "sealpush" };
  expect(cookies("true", "https://push.example", oidc).made("t", client(false))).toBe(secure);
  expect(cookies("auto", "http://push.example").made("t", client(false))).toBe(plain);
  expect(cookies("auto").ended(client(true))).toBe(
    "__Host-sealpush_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure",
  );
});
