import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { bearer } from "../support/app.ts";
import { countRows, readRows } from "../support/engine-database.ts";
import { clientSecret } from "../support/provider.ts";
import { type SignOnApp, startSignOnApp } from "../support/sign-on.ts";

const path = "/users/auth/oidc/backchannel-logout";
const email = "bob@example.com";
const subject = "b-1";
const form = { "content-type": "application/x-www-form-urlencoded" };

async function post({ app }: SignOnApp, token: string, headers: Readonly<Record<string, string>> = form) {
  const payload = new URLSearchParams({ logout_token: token }).toString();
  return await app.server.inject({ method: "POST", url: path, headers, payload });
}

async function open() {
  const site = await startSignOnApp();
  site.provider.people.set(subject, { email, email_verified: true });
  const signedOn = async (person = subject) => {
    const visitor = site.newVisitor();
    expect((await site.signOn(visitor, person)).statusCode).toBe(303);
    return visitor;
  };
  const first = await signedOn();
  const [session] = await readRows<{ sid: string; iat: number }>(
    site.app.app.domain.db,
    "SELECT provider_sid AS sid, provider_issued_at AS iat FROM sessions",
  );
  // Stored after the issuer and a blank.
  const sid = session?.sid.slice(site.provider.issuer.length + 1) ?? "";
  return { site, signedOn, first, sid, iat: session?.iat ?? 0 };
}

test("a logout at another provider ends nothing, though the ids are the same", async () => {
  const { site, first, sid, iat: issuedAt } = await open();
  const { accounts } = site.app.app.domain;
  const other = { issuer: "https://other.example", subject, issuedAt };
  await accounts.endProviderSessions({ ...other, sid });
  await accounts.endProviderSessions({ ...other, sid: undefined });
  expect(await first.signedInAs()).toBe(email);
});

describe("a logout token", () => {
  test("ends the sessions of its session at the provider, and no API token", async () => {
    const { site, signedOn, first, sid, iat } = await open();
    const second = await signedOn();
    const { accounts } = site.app.app.domain;
    const user = await accounts.findUserByEmail(email);
    const { token } = await accounts.createToken(user?.id ?? 0, "a token");
    const answer = await post(site, await site.provider.logoutToken({ sid, sub: subject, iat }));
    expect([answer.statusCode, answer.body, answer.headers["cache-control"]]).toEqual([200, "", "no-store"]);
    expect([await first.signedInAs(), await second.signedInAs()]).toEqual([undefined, email]);
    const listed = await site.app.server.inject({ url: "/p/active.json", headers: bearer(token) });
    expect(listed.statusCode).toBe(200);
  });

  test("without sid ends all sessions of the subject, and nobody else's", async () => {
    const { site, signedOn, first, iat } = await open();
    site.provider.people.set("c-1", { email: "carol@example.com", email_verified: true });
    const [second, carol] = [await signedOn(), await signedOn("c-1")];
    expect((await post(site, await site.provider.logoutToken({ sub: subject, iat: iat + 600 }))).statusCode).toBe(200);
    expect([await first.signedInAs(), await second.signedInAs()]).toEqual([undefined, undefined]);
    expect(await carol.signedInAs()).toBe("carol@example.com");
  });

  test.each(["of a session", "of a user"])(
    "%s ends no session that began later, so that a replay ends nothing",
    async (of) => {
      const { site, first, sid, iat } = await open();
      const whose = of === "of a user" ? { sub: subject } : { sid, sub: subject };
      const token = await site.provider.logoutToken({ ...whose, iat: iat - 1 });
      for (const _ of ["sent", "sent again"]) expect((await post(site, token)).statusCode).toBe(200);
      expect(await first.signedInAs()).toBe(email);
      await post(site, await site.provider.logoutToken({ ...whose, iat }));
      expect(await first.signedInAs()).toBeUndefined();
    },
  );

  test("lets a sign-on that is not newer start no session for ten minutes", async () => {
    const { site, iat, signedOn } = await open();
    await post(site, await site.provider.logoutToken({ sub: subject, iat: iat + 3_600, exp: iat + 7_200 }));
    const visitor = site.newVisitor();
    expect((await site.signOn(visitor, subject)).statusCode).toBe(403);
    expect(await visitor.signedInAs()).toBeUndefined();
    site.app.clock.advance(10 * minuteMs);
    await signedOn();
  });

  test("is forgotten after ten minutes", async () => {
    const { site, iat } = await open();
    await post(site, await site.provider.logoutToken({ sub: subject, iat: iat + 600 }));
    const { accounts, db } = site.app.app.domain;
    const kept = () => countRows(db, "provider_logouts");
    for (const { ms, rows } of [
      { ms: 10 * minuteMs - 1, rows: 1 },
      { ms: 1, rows: 0 },
    ]) {
      site.app.clock.advance(ms);
      await accounts.removeExpiredSessions(10);
      expect(await kept()).toBe(rows);
    }
  });

  test("is forgotten with the account, whose subject it has", async () => {
    const { site, iat } = await open();
    const { accounts, db } = site.app.app.domain;
    for (const sub of [subject, "somebody else"]) {
      await post(site, await site.provider.logoutToken({ sub, iat: iat + 600 }));
    }
    await accounts.deleteUser((await accounts.findUserByEmail(email))?.id ?? 0, null);
    expect(await countRows(db, "provider_logouts")).toBe(1);
  });

  test("that arrives after a newer one leaves what the newer one refuses", async () => {
    const { site, iat } = await open();
    for (const later of [3_600, -1]) {
      await post(site, await site.provider.logoutToken({ sub: subject, iat: iat + later, exp: iat + 7_200 }));
    }
    expect((await site.signOn(site.newVisitor(), subject)).statusCode).toBe(403);
  });

  test("that names nobody is a success", async () => {
    const { site, first } = await open();
    expect((await post(site, await site.provider.logoutToken({ sub: "nobody" }))).statusCode).toBe(200);
    expect(await first.signedInAs()).toBe(email);
  });

  const other = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
  const shared = new TextEncoder().encode(clientSecret);
  test.each<[string, Record<string, unknown>, { header?: Record<string, unknown>; key?: typeof other | Uint8Array }]>([
    ["another audience", { aud: "another client" }, {}],
    ["another issuer", { iss: "https://evil.example" }, {}],
    ["a nonce", { nonce: "x" }, {}],
    ["no jti", { jti: undefined }, {}],
    ["no iat", { iat: undefined }, {}],
    ["no event", { events: {} }, {}],
    ["an event that is no object", { events: { "http://schemas.openid.net/event/backchannel-logout": true } }, {}],
    ["an end in the past", { exp: 1 }, {}],
    ["neither end nor a recent time", { exp: undefined, iat: 1 }, {}],
    ["neither subject nor session", { sub: undefined }, {}],
    ["a subject that is a list", { sub: [subject] }, {}],
    ["the type of an ID token", {}, { header: { typ: "at+jwt" } }],
    ["another key's signature", {}, { key: other }],
    ["the client secret as key", {}, { header: { alg: "HS256" }, key: shared }],
  ])("with %s is refused and ends nothing", async (_fault, claims, signing) => {
    const { site, first, iat } = await open();
    const token = await site.provider.logoutToken({ sub: subject, iat: iat + 600, ...claims }, signing);
    const answer = await post(site, token);
    expect([answer.statusCode, answer.json()]).toEqual([400, { error: "invalid_request" }]);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(await first.signedInAs()).toBe(email);
  });

  test("without an end is good for two minutes", async () => {
    const { site } = await open();
    const statusOf = async (secondsAgo: number) => {
      const iat = Math.floor(site.app.clock.now() / 1_000) - secondsAgo;
      return (await post(site, await site.provider.logoutToken({ sub: subject, iat, exp: undefined }))).statusCode;
    };
    expect([await statusOf(110), await statusOf(150)]).toEqual([200, 400]);
  });

  test("without a signature is refused", async () => {
    const { site, first, iat } = await open();
    const [, payload] = (await site.provider.logoutToken({ sub: subject, iat })).split(".");
    const header = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    expect((await post(site, `${header}.${payload}.`)).statusCode).toBe(400);
    expect(await first.signedInAs()).toBe(email);
  });

  test("that is too long, in another body or missing is refused", async () => {
    const { site } = await open();
    for (const token of ["", "x", "x".repeat(16_385)]) expect((await post(site, token)).statusCode).toBe(400);
    const token = await site.provider.logoutToken({ sub: subject });
    expect((await post(site, token, { "content-type": "text/plain" })).statusCode).toBe(400);
  });
});

describe("the keys of the provider", () => {
  test("are requested again for an unknown key, at most once a minute", async () => {
    const { site, first, iat } = await open();
    const logout = { sub: subject, iat: iat + 600 };
    const unknown = await site.provider.logoutToken(logout, { header: { kid: "unknown" } });
    expect((await post(site, unknown)).statusCode).toBe(400);
    const answer = await post(site, unknown);
    expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([503, "no-store"]);
    site.app.clock.advance(minuteMs);
    expect((await post(site, unknown)).statusCode).toBe(400);
    expect(await first.signedInAs()).toBe(email);
    expect((await post(site, await site.provider.logoutToken(logout))).statusCode).toBe(200);
    expect(await first.signedInAs()).toBeUndefined();
  });

  test("that cannot be had are 503", async () => {
    const { site, first } = await open();
    const token = await site.provider.logoutToken({ sub: subject });
    await site.provider.close();
    expect((await post(site, token)).statusCode).toBe(503);
    expect(await first.signedInAs()).toBe(email);
  });
});

test("without single sign-on there is no address for logouts", async () => {
  const site = await startSignOnApp({ PWP__OIDC__ISSUER: "" });
  expect((await post(site, "x")).statusCode).toBe(404);
});
