import { makeLinkKey } from "@sealpush/age/link-key";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allScopes, type Scope, type TokenLimits } from "../../src/accounts/accounts.ts";
import { dayMs } from "../../src/base/clock.ts";
import { clientAt } from "../support/accounts.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";

const ada = "ada@example.com";
const eve = "eve@example.com";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ environment: { PWP__TRUSTED_PROXIES: "10.0.0.1" } });
  await app.makeToken(ada);
  await app.makeToken(eve);
});
afterAll(() => app[Symbol.asyncDispose]());

async function idOf(email: string): Promise<number> {
  const user = await app.app.domain.accounts.findUserByEmail(email);
  if (user === undefined) throw new Error(`There is no user ${email}.`);
  return user.id;
}

async function makeToken(limits: TokenLimits, email = ada) {
  const { token, apiToken } = await app.app.domain.accounts.createToken(await idOf(email), "test", limits);
  return { id: apiToken.id, token, bearer: { authorization: `Bearer ${token}` } };
}

interface Asked {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly payload?: string;
  readonly remoteAddress?: string;
}

const ask = ({ method = "GET", ...rest }: Asked) => app.server.inject({ method: method as "GET", ...rest });
const json = { "content-type": "application/json" };

async function makePush(headers: Record<string, string>, fields: object = {}): Promise<string> {
  const payload = JSON.stringify({ push: { payload: "secret", ...fields } });
  const answer = await ask({ method: "POST", url: "/api/v2/pushes", headers: { ...json, ...headers }, payload });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

const lists = "/api/v2/pushes/active";

const linkKey = await makeLinkKey();

/** A body that every route that creates something accepts: each route reads its own wrapper. */
const creation = JSON.stringify({
  push: { payload: "x" },
  password: { payload: "x" },
  url: { payload: "https://example.com/" },
  file_push: { files: [{ filename: "a.txt", content_type: "text/plain", data: "eA==" }] },
  request: { title: "A password", recipient: linkKey.recipient, encryption_check: linkKey.check },
});

const hasBody = (method: string) => method === "POST" || method === "PATCH";

async function makeRequest(headers: Record<string, string>): Promise<string> {
  const url = "/api/sealpush/requests";
  const answer = await ask({ method: "POST", url, headers: { ...json, ...headers }, payload: creation });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

describe("API token scopes", () => {
  test.each<Scope>(["create", "read", "edit", "expire"])(
    "a token with only the scope %s may use the routes of this scope and no others",
    async (scope) => {
      const { bearer } = await makeToken({ scopes: [scope] });
      const everything = await makeToken({});
      const tried = new Set<string | null>();
      for (const route of app.app.routes.filter(({ access }) => access.startsWith("api"))) {
        const urlToken = route.pattern.startsWith("/api/sealpush/requests")
          ? await makeRequest(everything.bearer)
          : await makePush(everything.bearer, { deletable_by_viewer: true });
        const answer = await ask({
          method: route.method,
          url: route.pattern.replace(":url_token", urlToken),
          headers: { ...bearer, ...(hasBody(route.method) ? json : {}) },
          ...(hasBody(route.method) ? { payload: creation } : {}),
        });
        const at = `${route.method} ${route.pattern}`;
        const refused = route.scope !== null && route.scope !== "any" && route.scope !== scope;
        expect([at, answer.statusCode === 403]).toEqual([at, refused]);
        // This server sends no email.
        const isMail = route.pattern.includes("notify_emails");
        if (!refused) expect([at, isMail || answer.statusCode < 300]).toEqual([at, true]);
        if (refused && route.method !== "HEAD") {
          expect([at, answer.json()]).toEqual([at, { error: `This API token lacks the scope "${route.scope}".` }]);
        }
        tried.add(route.scope);
      }
      expect(tried).toEqual(new Set([null, "any", ...allScopes]));
    },
  );

  test("the scope create may create pushes for its owner, and retrieve them like any recipient", async () => {
    const { bearer } = await makeToken({ scopes: ["create"] });
    const reading = await makeToken({ scopes: ["read"] });
    const urlToken = await makePush(bearer, { name: "label", expire_after_views: 3 });
    expect((await ask({ url: lists, headers: reading.bearer })).json()).toContainEqual(
      expect.objectContaining({ url_token: urlToken, name: "label" }),
    );
    // Retrievals with a token that has the scope read are not counted; those with this one are.
    const views = async (headers: Record<string, string>) =>
      (await ask({ url: `/p/${urlToken}.json`, headers })).json().views_remaining;
    expect(await views(reading.bearer)).toBe(3);
    expect(await views(bearer)).toBe(2);
    expect(await views({})).toBe(1);
    const audit = await ask({ url: `/api/v2/pushes/${urlToken}/audit`, headers: reading.bearer });
    expect(audit.json().logs.map(({ kind }: { kind: string }) => kind)).toEqual([
      "creation",
      "owner_view",
      "view",
      "view",
    ]);
  });

  test("without the scope expire, a token may not even delete a push that its viewers may delete", async () => {
    const creating = await makeToken({ scopes: ["create", "read"] });
    const ending = await makeToken({ scopes: ["expire"] });
    const urlToken = await makePush(creating.bearer, { deletable_by_viewer: true });
    const end = (headers: Record<string, string>) =>
      ask({ method: "DELETE", url: `/api/v2/pushes/${urlToken}`, headers });
    expect((await end(creating.bearer)).statusCode).toBe(403);
    expect((await ask({ url: `/api/v2/pushes/${urlToken}/preview` })).statusCode).toBe(200);
    expect((await end(ending.bearer)).json()).toMatchObject({ expired: true, deleted: true });
  });
});

describe("a token restricted to networks", () => {
  test("works only from these networks, whatever X-Forwarded-For an untrusted client sends", async () => {
    const { bearer } = await makeToken({ networks: ["192.0.2.0/24", "2001:db8::/32"] });
    const status = async (remoteAddress: string, forwardedFor?: string) => {
      const headers = { ...bearer, ...(forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }) };
      return (await ask({ url: lists, headers, remoteAddress })).statusCode;
    };
    expect(await status("192.0.2.77")).toBe(200);
    expect(await status("::ffff:192.0.2.77")).toBe(200);
    expect(await status("2001:db8::1")).toBe(200);
    expect(await status("198.51.100.1")).toBe(401);
    expect(await status("2001:db9::1")).toBe(401);
    // This peer is not a trusted proxy.
    expect(await status("198.51.100.1", "192.0.2.77")).toBe(401);
    expect(await status("192.0.2.77", "198.51.100.1")).toBe(200);
    // Behind the proxy, the address that the proxy appended counts, not those before it.
    expect(await status("10.0.0.1", "192.0.2.77")).toBe(200);
    expect(await status("10.0.0.1", "198.51.100.1")).toBe(401);
    expect(await status("10.0.0.1", "192.0.2.77, 198.51.100.1")).toBe(401);
    expect(await status("10.0.0.1")).toBe(401);
  });

  test("is answered like an unknown token from other networks, also on public endpoints", async () => {
    const { bearer } = await makeToken({ networks: ["192.0.2.1"] });
    const urlToken = await makePush({});
    for (const url of [lists, `/api/v2/pushes/${urlToken}`, `/p/${urlToken}.json`, "/api/v2/openapi.json"]) {
      const elsewhere = await ask({ url, headers: bearer, remoteAddress: "198.51.100.1" });
      const unknown = await ask({ url, headers: { authorization: "Bearer sp_unknown" } });
      expect([url, elsewhere.statusCode, elsewhere.body]).toEqual([url, 401, unknown.body]);
    }
    expect((await ask({ url: "/api/v2/version", headers: bearer, remoteAddress: "198.51.100.1" })).statusCode).toBe(
      200,
    );
  });
});

test("a token is refused from the moment it expires", async () => {
  const { bearer } = await makeToken({ expiresInDays: 7 });
  const status = async () => (await ask({ url: lists, headers: bearer })).statusCode;
  app.clock.advance(7 * dayMs - 1);
  expect(await status()).toBe(200);
  app.clock.advance(1);
  expect(await status()).toBe(401);
});

test("a token that another process revokes is refused at once", async () => {
  const { bearer, id } = await makeToken({});
  expect((await ask({ url: lists, headers: bearer })).statusCode).toBe(200);
  await using other = await startTestApp({ dataDir: app.dataDir, clock: app.clock });
  expect(await other.app.domain.accounts.revokeToken(await idOf(ada), id)).toBe(true);
  expect((await ask({ url: lists, headers: bearer })).statusCode).toBe(401);
});

describe("the tokens page", () => {
  const ownPage = { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" };

  async function signedIn(email: string): Promise<Record<string, string>> {
    const done = await app.app.domain.accounts.signIn({ email, password, client: clientAt("192.0.2.1") });
    return { ...ownPage, cookie: `sealpush_session=${done?.sessionToken ?? ""}` };
  }

  test("does not revoke other users' tokens, and answers as for unknown ones", async () => {
    const { bearer, id } = await makeToken({});
    const headers = await signedIn(eve);
    const answers = await Promise.all(
      [String(id), "999999", "0", "-1", "1e3", "1.5", "x", "9".repeat(30)].map((given) =>
        ask({ method: "POST", url: `/users/token/${given}/revoke`, headers }),
      ),
    );
    for (const answer of answers) expect(answer.statusCode).toBe(404);
    expect((await ask({ url: lists, headers: bearer })).statusCode).toBe(200);
    expect((await ask({ url: "/users/token", headers })).body).not.toContain(`/users/token/${id}/revoke`);
  });

  test("ignores fields that are not in its form", async () => {
    const payload = new URLSearchParams({
      name: "planted",
      may_create: "1",
      may_read: "0",
      may_expire: "",
      expires_in_days: "1",
      networks: "192.0.2.1",
      user_id: String(await idOf(eve)),
      admin: "true",
      digest: "00",
      token: "sp_chosen",
      scopes: "create read edit expire",
      id: "77",
      revoked_at: "1",
      expires_at: "9999999999999",
      last_used_address: "x",
      "scopes[]": "read",
    });
    const answer = await ask({
      method: "POST",
      url: "/users/token",
      headers: await signedIn(ada),
      payload: payload.toString(),
    });
    expect(answer.statusCode).toBe(201);
    const { accounts } = app.app.domain;
    const [made] = await accounts.listTokens(await idOf(ada));
    expect(made).toMatchObject({ name: "planted", scopes: ["create"], networks: ["192.0.2.1"], revokedAt: null });
    expect(made).toMatchObject({ expiresAt: app.clock.now() + dayMs, lastUsedAt: null, lastUsedAddress: null });
    expect(made?.id).not.toBe(77);
    expect((await accounts.listTokens(await idOf(eve))).map(({ name }) => name)).not.toContain("planted");
    expect((await accounts.findUserByEmail(ada))?.admin).toBe(false);
  });

  test.each([
    ["expires_in_days", "0"],
    ["expires_in_days", "-1"],
    ["expires_in_days", "1.5"],
    ["expires_in_days", "1e2"],
    ["expires_in_days", "99999999999999999999"],
    ["networks", "10.0.0.0/33"],
    ["networks", Array.from({ length: 51 }, (_, at) => `192.0.2.${at}`).join(" ")],
    ["name", " "],
    ["name", "gpj\u202eexe"],
  ])("shows the error of %s %j beside its field, and keeps what was typed", async (field, value) => {
    const payload = new URLSearchParams({ name: "typed", networks: "192.0.2.99", [field]: value }).toString();
    const before = (await app.app.domain.accounts.listTokens(await idOf(ada))).length;
    const answer = await ask({ method: "POST", url: "/users/token", headers: await signedIn(ada), payload });
    expect(answer.statusCode).toBe(422);
    expect(answer.body).toContain(`id="${field}_problem"`);
    expect(answer.body).toContain(field === "name" ? "192.0.2.99" : 'value="typed"');
    expect((await app.app.domain.accounts.listTokens(await idOf(ada))).length).toBe(before);
  });

  test("lists many tokens in pages", async () => {
    await app.makeToken("many@example.com");
    for (let at = 0; at < 50; at += 1) await makeToken({}, "many@example.com");
    const headers = await signedIn("many@example.com");
    const rows = async (query: string) =>
      (await ask({ url: `/users/token${query}`, headers })).body.match(/class="token-name"/g)?.length ?? 0;
    expect(await Promise.all(["", "?page=1", "?page=2", "?page=3"].map(rows))).toEqual([50, 50, 1, 0]);
    expect(await Promise.all(["?page=0", "?page=-1", "?page=x", "?page=1e9", "?page=1&page=2"].map(rows))).toEqual([
      50, 50, 50, 50, 50,
    ]);
  });

  test("is at /users/token; the older URL redirects there", async () => {
    const answer = await ask({ url: "/api_tokens?locale=de" });
    expect([answer.statusCode, answer.headers.location]).toEqual([301, "/users/token?locale=de"]);
  });
});

test("the API's description names the scope of every operation", async () => {
  const { paths } = (await ask({ url: "/api/v2/openapi.json" })).json();
  const scopeOf = (path: string, method: string) => paths[path][method].security.at(-1).userToken;
  expect(scopeOf("/api/v2/pushes", "post")).toEqual(["create"]);
  expect(scopeOf("/api/v2/pushes/active", "get")).toEqual(["read"]);
  expect(scopeOf("/api/v2/pushes/{url_token}/audit", "get")).toEqual(["read"]);
  expect(scopeOf("/api/v2/pushes/{url_token}", "delete")).toEqual(["expire"]);
  expect(scopeOf("/api/v2/pushes/{url_token}", "get")).toEqual([]);
});
