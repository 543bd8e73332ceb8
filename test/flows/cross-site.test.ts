import { makeLinkKey } from "@sealpush/age/link-key";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RouteAccess } from "../../src/http/request.ts";
import type { RouteEntry } from "../../src/http/route-access.ts";
import { en } from "../../src/i18n/i18n.ts";
import { addUnusablePasskey, clientAt } from "../support/accounts.ts";
import { bearer, password, startTestApp, type TestApp } from "../support/app.ts";
import { signedIn } from "../support/domain.ts";

/** The first user, who matters to no test: paths with an id refer to this user. */
const bystander = "bystander@example.com";
const admin = "admin@example.com";
const halfSignedIn = "half@example.com";

let app: TestApp;
let adminToken: string;
beforeAll(async () => {
  // Some routes exist only if the server sends email.
  const mails = { PWP__MAIL__SMTP_ADDRESS: "127.0.0.1", PWP__OVERRIDE_BASE_URL: "http://127.0.0.1:5100" };
  app = await startTestApp({ environment: mails });
  await app.makeToken(bystander);
  adminToken = await app.makeToken(admin, true);
  await app.makeToken(halfSignedIn);
  const half = await app.app.domain.accounts.findUserByEmail(halfSignedIn);
  await addUnusablePasskey(app.app.domain, { id: half?.id ?? 0 });
});
afterAll(() => app[Symbol.asyncDispose]());

const changing = (): readonly RouteEntry[] =>
  app.app.routes.filter(({ access, changesState }) => access.startsWith("page") && changesState);

/** Paths use a push or a request that the administrator owns, because some handlers load it before they read the form. */
async function addressOf({ pattern }: RouteEntry): Promise<string> {
  const { accounts, pushes } = app.app.domain;
  const owner = await accounts.findUserByEmail(admin);
  if (pattern.startsWith("/p/:token")) {
    const push = await pushes.create({ payload: "secret" }, signedIn(owner?.id ?? 0));
    return pattern.replace(":token", push.urlToken);
  }
  if (pattern.startsWith("/requests/:token")) return pattern.replace(":token", await makeRequest());
  return pattern.replace(/:[a-z_]+/g, "1");
}

async function makeRequest(): Promise<string> {
  const { recipient, check } = await makeLinkKey();
  const made = await app.server.inject({
    method: "POST",
    url: "/api/sealpush/requests",
    headers: bearer(adminToken),
    payload: { request: { title: "A password", recipient, encryption_check: check } },
  });
  return made.json().url_token;
}

interface Signed {
  readonly cookie: string;
  readonly formToken: string;
}

/** Signs in with the kind of session that the page requires. */
async function signIn(access: RouteAccess): Promise<Signed> {
  const { accounts } = app.app.domain;
  // The oldest session is removed; which one that is would be undefined if several began at the same instant.
  app.clock.advance(1);
  const email = access === "page_waiting" ? halfSignedIn : admin;
  const done = await accounts.signIn({ email, password, client: clientAt("192.0.2.1") });
  const session = await accounts.authenticateSession(done?.sessionToken ?? "");
  if (done === undefined || session === undefined) throw new Error(`${email} could not sign in.`);
  return { cookie: `sealpush_session=${done.sessionToken}`, formToken: session.formToken };
}

async function statusOf(route: RouteEntry, headers: Record<string, string>, payload = "") {
  const { method } = route;
  const url = await addressOf(route);
  const answer = await app.server.inject({ method: method as "POST", url, headers, payload });
  // Some pages answer 403 for other reasons, for example because of a setting, with a page of their own.
  const forbidden = answer.statusCode === 403 && answer.body.includes(en.failure.forbidden);
  return { at: `${method} ${route.pattern}`, status: forbidden ? "forbidden" : answer.statusCode };
}

const urlencoded = { "content-type": "application/x-www-form-urlencoded" };
const multipart = { "content-type": "multipart/form-data; boundary=b" };
const json = { "content-type": "application/json" };
const part = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = `--b\r\nContent-Disposition: form-data; name="push[files][]"; filename="f"\r\n\r\nx\r\n`;

type Refused = readonly [name: string, headers: Record<string, string>, payload: (formToken: string) => string];

/** Requests of a browser with a session that another site may have caused. */
const refused: readonly Refused[] = [
  ["Sec-Fetch-Site of another site", { "sec-fetch-site": "cross-site", ...urlencoded }, (t) => `form_token=${t}`],
  ["Sec-Fetch-Site of a sibling", { "sec-fetch-site": "same-site", ...urlencoded }, (t) => `form_token=${t}`],
  ["a foreign Origin", { origin: "https://evil.example", ...urlencoded }, (t) => `form_token=${t}`],
  ["a null Origin and no form token", { origin: "null", ...urlencoded }, () => "a=1"],
  ["no Origin and no form token", urlencoded, () => ""],
  ["no Origin and no body", {}, () => ""],
  ["a wrong form token", { origin: "null", ...urlencoded }, (t) => `form_token=${t.slice(1)}`],
  ["the form token in JSON", { origin: "null", ...json }, (t) => JSON.stringify({ form_token: t })],
  ["a form in parts without its token", { origin: "null", ...multipart }, () => `${part("a", "1")}--b--`],
  ["a file before the token", { origin: "null", ...multipart }, (t) => `${file}${part("form_token", t)}--b--`],
];

describe("no page changes state by a request with", () => {
  test.each(refused)("%s", async (_name, headers, payload) => {
    const sessions = new Map<RouteAccess, Signed>();
    for (const route of changing()) {
      const session = sessions.get(route.access) ?? (await signIn(route.access));
      sessions.set(route.access, session);
      const { cookie, formToken } = session;
      const { at, status } = await statusOf(route, { ...headers, cookie }, payload(formToken));
      expect([at, status]).toEqual([at, "forbidden"]);
    }
    // The sessions still exist: even the sign-out was refused.
    for (const { cookie } of sessions.values()) {
      const found = await app.app.domain.accounts.authenticateSession(cookie.split("=")[1] ?? "");
      expect(found).toBeDefined();
    }
  });

  test("the form token of another session", async () => {
    const sessions = new Map<RouteAccess, readonly [own: Signed, other: Signed]>();
    for (const route of changing()) {
      const both = sessions.get(route.access) ?? ([await signIn(route.access), await signIn(route.access)] as const);
      sessions.set(route.access, both);
      const [{ cookie }, { formToken }] = both;
      const { at, status } = await statusOf(route, { ...urlencoded, cookie }, `form_token=${formToken}`);
      expect([at, status]).toEqual([at, "forbidden"]);
    }
  });
});

describe("every page accepts a state change with", () => {
  test.each<Refused>([
    [
      "the form token, from a browser that reports nothing else",
      { origin: "null", ...urlencoded },
      (t) => `form_token=${t}`,
    ],
    ["the form token in a form of parts", multipart, (t) => `${part("form_token", t)}--b--`],
    ["its own Sec-Fetch-Site", { "sec-fetch-site": "same-origin", ...urlencoded }, () => ""],
    ["its own Origin", { origin: "http://push.example", host: "push.example", ...urlencoded }, () => ""],
  ])("%s", async (_name, headers, payload) => {
    for (const route of changing()) {
      const { cookie, formToken } = await signIn(route.access);
      const { at, status } = await statusOf(route, { ...headers, cookie }, payload(formToken));
      expect([at, status]).toEqual([at, expect.any(Number)]);
      expect([at, Number(status) < 500]).toEqual([at, true]);
    }
  });

  test("no session, as programs send it, except forms that sign in", async () => {
    for (const route of changing()) {
      for (const cookie of ["", "sealpush_session=ended"]) {
        const { at, status } = await statusOf(route, { ...urlencoded, cookie });
        const isEntry = route.access === "page_entry";
        expect([at, status]).toEqual([at, isEntry ? "forbidden" : expect.any(Number)]);
        if (!isEntry) expect([at, Number(status) < 500]).toEqual([at, true]);
      }
    }
  });
});

describe("a form that signs somebody in, or prepares it, of a browser that reports nothing", () => {
  const entries = () => changing().filter(({ access }) => access === "page_entry");
  const load = async () => {
    const { headers, body } = await app.server.inject({ url: "/users/sign_in" });
    const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
    return {
      cookie,
      formToken: /name="form_token" value="([^"]+)"/.exec(body)?.[1] ?? "",
      attributes: headers["set-cookie"],
    };
  };

  test("are sign-in, sign-up, password, confirmation, first run and the start of single sign-on", () => {
    expect(
      entries()
        .map(({ pattern }) => pattern)
        .sort(),
    ).toEqual([
      "/first_run",
      "/users/auth/oidc",
      "/users/auth/oidc/confirm",
      "/users/auth/oidc/confirm/mail",
      "/users/break_glass",
      "/users/confirmation",
      "/users/confirmation/new",
      "/users/confirmation/new_email",
      "/users/password/edit",
      "/users/password/new",
      "/users/sign_in",
      "/users/sign_in/passkey",
      "/users/sign_in/passkey/options",
      "/users/sign_up",
    ]);
  });

  test("is accepted with the token of its cookie, and with nothing else", async () => {
    const [own, other] = [await load(), await load()];
    expect(own.formToken).not.toBe(other.formToken);
    expect(own.attributes).toMatch(/^sealpush_entry=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const origin = "null";
    const status = async (route: RouteEntry, cookie: string, formToken: string) =>
      (await statusOf(route, { ...urlencoded, origin, cookie }, `form_token=${formToken}`)).status;
    for (const route of entries()) {
      const { pattern } = route;
      expect([pattern, await status(route, own.cookie, own.formToken)]).toEqual([pattern, expect.any(Number)]);
      for (const [cookie, formToken] of [
        ["", own.formToken],
        [own.cookie, other.formToken],
        [own.cookie, ""],
        ["", ""],
        ["sealpush_entry=", ""],
        [own.cookie, own.cookie.split("=")[1] ?? ""],
      ] as const) {
        expect([pattern, await status(route, cookie, formToken)]).toEqual([pattern, "forbidden"]);
      }
    }
  });

  test("is accepted after a session has begun in another tab", async () => {
    const own = await load();
    const { cookie } = await signIn("page_waiting");
    const cookies = `${own.cookie}; ${cookie}`;
    for (const route of entries()) {
      const { at, status } = await statusOf(route, { ...urlencoded, cookie: cookies }, `form_token=${own.formToken}`);
      expect([at, status]).toEqual([at, expect.any(Number)]);
    }
  });

  test("has one cookie for all pages, and none in browsers that say where requests come from, nor for links", async () => {
    const own = await load();
    const again = await app.server.inject({ url: "/users/sign_up", headers: { cookie: own.cookie } });
    expect(again.headers["set-cookie"]).toBeUndefined();
    expect(again.body).toContain(`value="${own.formToken}"`);
    for (const site of ["none", "cross-site", "same-origin"]) {
      const modern = await app.server.inject({ url: "/users/sign_in", headers: { "sec-fetch-site": site } });
      expect(modern.headers["set-cookie"]).toBeUndefined();
    }
    const { urlToken } = await app.app.domain.pushes.create({ payload: "secret", retrievalStep: true }, signedIn(1));
    for (const url of ["/", "/p/new", `/p/${urlToken}`]) {
      expect((await app.server.inject({ url })).headers["set-cookie"]).toBeUndefined();
    }
  });
});

test("the form token is on every form that posts, and on no page without a session", async () => {
  const { cookie, formToken } = await signIn("page_session");
  const forms = /<form method="post".*?<\/form>/gs;
  for (const url of ["/", "/users/token", "/users/edit"]) {
    const own = (await app.server.inject({ url, headers: { cookie } })).body.match(forms) ?? [];
    expect(own.length).toBeGreaterThan(0);
    for (const form of own) expect(form).toContain(`name="form_token" value="${formToken}"`);
    expect((await app.server.inject({ url })).body).not.toContain("form_token");
  }
});
