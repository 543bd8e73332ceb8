import { makeLinkKey } from "@sealpush/age/link-key";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import type { RouteEntry } from "../../src/http/route-access.ts";
import { bearer, password, startTestApp, type TestApp } from "../support/app.ts";
import { changesBetween, rowsOfOthers } from "../support/database-rows.ts";
import { createOwnedPushes, type OwnedPushes } from "../support/owned-pushes.ts";
import { signInClient } from "../support/signed-in-client.ts";

const mallory = "mallory@example.com";
const byShell = { userId: null, email: "shell", address: "" };

type Credentials = Readonly<Record<string, string>>;

let fixture: TestApp;
let ownedPushes: OwnedPushes;
let requestToken: string;

async function open(withFactors = true): Promise<void> {
  const opened = await startTestApp();
  onTestFinished(() => opened[Symbol.asyncDispose]());
  fixture = opened;
  ownedPushes = await createOwnedPushes(fixture, withFactors);
  requestToken = await makeRequest();
}

const requestCanaries = ["request's title", "request's note"] as const;

/** A request for a secret, of the owner of the pushes. */
async function makeRequest(): Promise<string> {
  const [title, note] = requestCanaries.map((name) => ownedPushes.canaries.makeCore(name));
  const { recipient, check } = await makeLinkKey();
  const made = await fixture.server.inject({
    method: "POST",
    url: "/api/sealpush/requests",
    headers: bearer(ownedPushes.apiToken),
    payload: { request: { title, note, recipient, encryption_check: check } },
  });
  expect(made.statusCode).toBe(201);
  return made.json().url_token;
}

/** These show what is asked for to everybody who has the link. */
const showsRequest = ({ pattern }: RouteEntry) => /\/requests\/:(url_)?token(\.json)?$/.test(pattern);

/** Every route but signing out, which would end the session of the test. */
const walked = (): readonly RouteEntry[] => fixture.app.routes.filter(({ pattern }) => pattern !== "/users/sign_out");

const isOwners = ({ pattern }: RouteEntry) => /:(id|token|url_token)\b/.test(pattern);

/** The kind of id in a path, by prefix. Every new path with an id has to be listed here. */
const kinds: readonly (readonly [prefix: string, kind: keyof OwnedPushes["ids"] | null])[] = [
  ["/users/edit/sessions/", "session"],
  ["/users/token/", "token"],
  ["/users/factors/passkeys/", "passkey"],
  ["/admin/users/", "user"],
  ["/admin/pushes/", "push"],
  ["/admin/mails/", null],
  ["/admin/groups/", null],
  ["/groups/", null],
];
const unknown = 987_654_321;

function idsFor(pattern: string): readonly number[] {
  const found = kinds.find(([prefix]) => pattern.startsWith(prefix));
  if (found === undefined) throw new Error(`The kind of id in ${pattern} is not listed.`);
  return found[1] === null ? [unknown] : ownedPushes.ids[found[1]];
}

/** The path with each of the owner's ids or tokens in place of its parameter. */
function addressesOf({ pattern }: RouteEntry): readonly string[] {
  const path = pattern === "/p/:token/audit/download" ? `${pattern}?format=json` : pattern;
  if (path.includes(":id"))
    return idsFor(pattern).map((id) => path.replace(":id", String(id)).replaceAll(/:\w+/g, String(id)));
  if (/\/requests\/:/.test(path)) return [path.replace(/:\w+/, requestToken)];
  if (/:(url_)?token\b/.test(path)) return ownedPushes.urlTokens.map((token) => path.replace(/:(url_)?token\b/, token));
  return [path.replace(/:\w+/, "1")];
}

/** The same path with an id or token that does not exist. */
const unknownAddressOf = (url: string) =>
  url.replace(/(?<=\/)\d+(?=\/|$)/, String(unknown)).replace(/(?<=\/)[a-z0-9]{32}(?=[/.?]|$)/, "z".repeat(32));

/** Fields for any of the forms. For paths without an id, only fields that do not change the sender's account. */
const form = {
  proof: password,
  password,
  current_password: password,
  email: mallory,
  next: "/p",
  "push[payload]": "changed",
  "push[name]": "changed",
  "push[expire_after_days]": "1",
};

async function send(
  route: RouteEntry,
  url: string,
  credentials: Credentials,
  fields: Readonly<Record<string, string>>,
) {
  const reads = route.method === "GET" || route.method === "HEAD";
  const answer = await fixture.server.inject({
    method: route.method as "GET",
    url,
    remoteAddress: "198.51.100.66",
    headers: {
      ...credentials,
      "sec-fetch-site": "same-origin",
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
      ...(!reads && { "content-type": "application/x-www-form-urlencoded" }),
    },
    ...(!reads && { payload: new URLSearchParams(fields).toString() }),
  });
  const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${String(value)}`);
  return { status: answer.statusCode, text: `${headers.join("\n")}\n${answer.body}`, body: answer.body };
}

/** Requests every route with the owner's ids and links. @param mayShow the names of the canaries that a route may return. */
async function requestEveryRoute(
  credentials: Credentials,
  mayShow: (route: RouteEntry) => readonly string[] = () => [],
) {
  const leaks: unknown[] = [];
  for (const route of walked()) {
    for (const url of addressesOf(route)) {
      const { status, text } = await send(route, url, credentials, isOwners(route) ? form : {});
      expect([route.method, url, status < 500], text).toEqual([route.method, url, true]);
      // A request names the confirmed address of its owner, for those who answer.
      const allowed = [...mayShow(route), ...(showsRequest(route) ? [...requestCanaries, "email"] : [])];
      const shown = ownedPushes.canaries.namesIn(Buffer.from(text)).filter((name) => !allowed.includes(name));
      if (shown.length > 0) leaks.push([route.method, url, status, shown]);
    }
  }
  expect(leaks).toEqual([]);
}

const idOf = async (email: string) => (await fixture.app.domain.accounts.findUserByEmail(email))?.id ?? null;
const stillOpens = async (url: string, headers: Credentials) =>
  (await fixture.server.inject({ url, headers })).statusCode === 200;

beforeEach(() => expect.hasAssertions());

test("in the owner's own session, the requests find the canaries in the owner's data", async () => {
  await open();
  const seen = new Set<string>();
  for (const route of walked().filter(({ method }) => method === "GET")) {
    for (const url of addressesOf(route)) {
      const { text } = await send(route, url, { cookie: ownedPushes.person.cookie() }, {});
      for (const name of ownedPushes.canaries.namesIn(Buffer.from(text))) seen.add(name);
    }
  }
  expect([...seen].sort()).toEqual([
    "API token's name",
    "address",
    "email",
    "filename",
    "passkey's name",
    "push's name",
    "push's note",
    "referrer",
    "request's note",
    "request's title",
    "subject",
    "user agent",
  ]);
});

test("IDOR: another user cannot read or change the owner's data through any route", async () => {
  await open();
  const thief = await signInClient(fixture, mallory, { join: true });
  const before = await rowsOfOthers(fixture, await idOf(mallory));
  await requestEveryRoute({ cookie: thief.cookie() });
  expect(changesBetween(before, await rowsOfOthers(fixture, await idOf(mallory)))).toEqual([]);
  expect((await thief.get("/users/token")).status).toBe(200);
});

test("IDOR: another user's API token cannot read or change the owner's data through any route", async () => {
  await open();
  const authorization = `Bearer ${await fixture.makeToken(mallory)}`;
  const before = await rowsOfOthers(fixture, await idOf(mallory));
  await requestEveryRoute({ authorization });
  expect(changesBetween(before, await rowsOfOthers(fixture, await idOf(mallory)))).toEqual([]);
  expect(await stillOpens("/api/v2/pushes/active", { authorization })).toBe(true);
});

test("IDOR: a client with the owner's ids and links, but no passphrase, cannot read or change the owner's data", async () => {
  await open();
  const before = await rowsOfOthers(fixture, null);
  await requestEveryRoute({});
  expect(changesBetween(before, await rowsOfOthers(fixture, null))).toEqual([]);
});

test("IDOR: the response for the owner's ids is the same as for ids that do not exist", async () => {
  await open();
  const thief = await signInClient(fixture, mallory, { join: true });
  const cookie = thief.cookie();
  const owned = walked().filter((route) => isOwners(route) && /^page_(session|admin)$/.test(route.access));
  expect(owned.length).toBeGreaterThan(10);
  for (const route of owned) {
    for (const url of addressesOf(route)) {
      const missingUrl = unknownAddressOf(url);
      const missing = await send(route, missingUrl, { cookie }, form);
      const { status, body } = await send(route, url, { cookie }, form);
      expect([route.method, url, status, missing.status]).toEqual([route.method, url, 404, 404]);
      expect(withoutChance(body, url)).toBe(withoutChance(missing.body, missingUrl));
    }
  }
});

test("a session of the owner that waits for the second factor cannot read or change the owner's data", async () => {
  await open();
  const signedIn = await fixture.app.domain.accounts.signIn({
    email: ownedPushes.email,
    password,
    client: { throttleKey: "192.0.2.9", address: "192.0.2.9", userAgent: "" },
  });
  expect(signedIn?.waitsForFactor).toBe(true);
  const cookie = `sealpush_session=${signedIn?.sessionToken}`;
  const before = await rowsOfOthers(fixture, null);
  await requestEveryRoute({ cookie });
  expect(changesBetween(before, await rowsOfOthers(fixture, null))).toEqual([]);
  expect(await stillOpens("/users/second_factor", { cookie })).toBe(true);
});

test("an owner without the factor that PWP__REQUIRE_MFA requires can only set it up", async () => {
  await open(false);
  const { dataDir, clock } = fixture;
  const environment = { PWP__REQUIRE_MFA: "true" };
  // A second server on the same data, as after a change of settings.
  fixture = await startTestApp({ environment, dataDir, clock });
  const ways: readonly Credentials[] = [
    { cookie: ownedPushes.person.cookie() },
    { authorization: `Bearer ${ownedPushes.apiToken}` },
  ];
  for (const credentials of ways) {
    const before = await rowsOfOthers(fixture, null);
    // The set-up pages of factors show the user's own address.
    await requestEveryRoute(credentials, ({ pattern }) => (pattern.startsWith("/users/factors") ? ["email"] : []));
    expect(changesBetween(before, await rowsOfOthers(fixture, null))).toEqual([]);
  }
  expect(await stillOpens("/users/factors", ways[0] ?? {})).toBe(true);
  await fixture[Symbol.asyncDispose]();
});

test.each([
  ["belongs to a disabled account", () => fixture.app.domain.accounts.setDisabled(ownedPushes.userId, true, byShell)],
  ["has expired", async () => fixture.clock.advance(15 * dayMs)],
  [
    "was revoked in another session",
    () => fixture.app.domain.accounts.endSession(ownedPushes.userId, ownedPushes.session.id),
  ],
])("a session of the owner cannot read or change anything after it %s", async (_what, end) => {
  await open();
  const cookie = ownedPushes.person.cookie();
  expect(await stillOpens("/users/token", { cookie })).toBe(true);
  await end();
  const before = await rowsOfOthers(fixture, null);
  await requestEveryRoute({ cookie });
  expect(changesBetween(before, await rowsOfOthers(fixture, null))).toEqual([]);
});

test("an API token cannot read or change anything after its user was disabled", async () => {
  await open();
  const authorization = `Bearer ${ownedPushes.apiToken}`;
  expect(await stillOpens("/api/v2/pushes/active", { authorization })).toBe(true);
  await fixture.app.domain.accounts.setDisabled(ownedPushes.userId, true, byShell);
  const before = await rowsOfOthers(fixture, null);
  await requestEveryRoute({ authorization });
  expect(changesBetween(before, await rowsOfOthers(fixture, null))).toEqual([]);
});

/** Removes the parts that differ between any two answers. */
function withoutChance(body: string, url: string): string {
  return body
    .replaceAll(encodeURI(url), "(address)")
    .replaceAll(/name="form_token" value="[^"]*"/g, "")
    .replaceAll(/[0-9a-f]{16}/g, "(id)");
}
