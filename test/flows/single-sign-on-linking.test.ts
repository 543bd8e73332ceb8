import { describe, expect, test } from "vitest";
import { totpCode, totpStep } from "../../src/accounts/factors/totp.ts";
import { minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { changeUsers } from "../support/access-rows.ts";
import { password } from "../support/app.ts";
import { beforeNextWrite } from "../support/before-next-write.ts";
import { readRows } from "../support/engine-database.ts";
import { shapes } from "../support/provider.ts";
import { type CookieClient, type SignOnApp, startSignOnApp } from "../support/sign-on.ts";

const messages = en.singleSignOn;
const email = "ada@example.com";
const confirmPath = "/users/auth/oidc/confirm";
const settingsPath = "/users/single_sign_on";
const linkPath = `${settingsPath}/link`;

async function identitiesIn({ app }: SignOnApp): Promise<number> {
  return (await readRows(app.app.domain.db, "SELECT subject FROM identities")).length;
}

async function emailsIn({ app }: SignOnApp): Promise<number> {
  return (await readRows(app.app.domain.db, "SELECT id FROM outbox")).length;
}

const mail = {
  PWP__MAIL__SMTP_ADDRESS: "127.0.0.1",
  PWP__MAIL__SMTP_PORT: "9",
  PWP__ENABLE_USER_ACCOUNT_EMAILS: "true",
};

/** Signs in at the provider as a new person with the email address of the existing account. */
async function signInAtProvider(site: SignOnApp): Promise<CookieClient> {
  site.provider.people.set("a-1", { email: "Ada@Example.COM", email_verified: true });
  const visitor = site.newVisitor();
  const answer = await site.signOn(visitor, "a-1", { next: "/users/token" });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, confirmPath]);
  return visitor;
}

describe("an identity with the email address of an account", () => {
  test("gives no access and is not linked before the account's password", async () => {
    const site = await startSignOnApp();
    const visitor = await signInAtProvider(site);
    expect([await visitor.signedInAs(), await identitiesIn(site)]).toEqual([undefined, 0]);
    const asked = await visitor.get(confirmPath);
    expect([asked.statusCode, asked.body.includes(messages.confirm)]).toEqual([200, true]);

    for (const wrong of ["", "quartz-lantern"]) {
      const answer = await visitor.post(confirmPath, { password: wrong });
      expect([answer.statusCode, answer.body.includes(messages.wrongPassword)]).toEqual([401, true]);
      expect(answer.body).not.toContain("quartz-lantern");
      expect([await visitor.signedInAs(), await identitiesIn(site)]).toEqual([undefined, 0]);
    }
    const answer = await visitor.post(confirmPath, { password });
    expect([answer.statusCode, answer.headers.location]).toEqual([303, "/users/token"]);
    expect([await visitor.signedInAs(), await identitiesIn(site)]).toEqual([email, 1]);

    const later = site.newVisitor();
    expect((await site.signOn(later, "a-1")).headers.location).toBe("/");
    expect(await later.signedInAs()).toBe(email);
  });

  test("is linked once per confirmation, and the owner gets an email", async () => {
    const site = await startSignOnApp(mail);
    const visitor = await signInAtProvider(site);
    const step = new Map(visitor.cookies);
    const before = await emailsIn(site);
    await visitor.post(confirmPath, { password });
    expect(await emailsIn(site)).toBe(before + 1);
    const replay = site.newVisitor();
    for (const [name, value] of step) replay.cookies.set(name, value);
    expect((await replay.post(confirmPath, { password })).statusCode).toBe(400);
    expect((await replay.get(confirmPath)).statusCode).toBe(400);
    expect([await replay.signedInAs(), await emailsIn(site)]).toEqual([undefined, before + 1]);
  });

  test("is not linked when the password changes between its check and the write", async () => {
    const site = await startSignOnApp();
    const { accounts, db } = site.app.app.domain;
    const visitor = await signInAtProvider(site);
    const user = await accounts.findUserByEmail(email);
    beforeNextWrite(db, () => accounts.setPassword(user?.id ?? 0, "marble-otter-lantern"));
    expect((await visitor.post(confirmPath, { password })).statusCode).toBe(400);
    expect([await visitor.signedInAs(), await identitiesIn(site)]).toEqual([undefined, 0]);
  });

  test("is not linked ten minutes later, nor from another browser", async () => {
    const site = await startSignOnApp();
    const visitor = await signInAtProvider(site);
    expect((await site.newVisitor().post(confirmPath, { password })).statusCode).toBe(400);
    site.app.clock.advance(10 * minuteMs);
    expect((await visitor.post(confirmPath, { password })).statusCode).toBe(400);
    expect(await identitiesIn(site)).toBe(0);
  });

  test("accepts no other fields: a confirmation changes neither user nor rights", async () => {
    const site = await startSignOnApp();
    await site.app.makeToken("eve@example.com");
    const visitor = await signInAtProvider(site);
    await visitor.post(confirmPath, {
      password,
      email: "eve@example.com",
      user_id: "2",
      admin: "true",
      subject: "e-1",
    });
    expect(await visitor.signedInAs()).toBe(email);
  });

  test("password guesses there have the limits of the sign-in", async () => {
    const site = await startSignOnApp();
    const visitor = await signInAtProvider(site);
    const statuses: number[] = [];
    for (let guess = 0; guess < 11; guess += 1) {
      statuses.push((await visitor.post(confirmPath, { password: `guess ${guess}` })).statusCode);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
    expect((await visitor.post(confirmPath, { password })).statusCode).toBe(429);
  });

  test("needs only consent from a user who has signed in since", async () => {
    const site = await startSignOnApp();
    const visitor = await signInAtProvider(site);
    site.app.clock.advance(1_000);
    await visitor.signIn(email, password);
    const asked = await visitor.get(confirmPath);
    expect([asked.body.includes(messages.consent), asked.body.includes('type="password"')]).toEqual([true, false]);
    expect(await identitiesIn(site)).toBe(0);
    expect((await visitor.post(confirmPath)).statusCode).toBe(303);
    expect([await visitor.signedInAs(), await identitiesIn(site)]).toEqual([email, 1]);
  });

  test("is not linked to the account of another signed-in user", async () => {
    const site = await startSignOnApp();
    await site.app.makeToken("eve@example.com");
    const visitor = await signInAtProvider(site);
    site.app.clock.advance(1_000);
    await visitor.signIn("eve@example.com", password);
    expect((await visitor.post(confirmPath)).statusCode).toBe(401);
    expect(await identitiesIn(site)).toBe(0);
  });

  test("is not linked to an unconfirmed account, whose creator has proven nothing", async () => {
    const site = await startSignOnApp(mail);
    await changeUsers(site.app.app.domain, { confirmedAt: null });
    const visitor = await signInAtProvider(site);
    expect((await visitor.post(confirmPath, { password })).statusCode).toBe(400);
    expect(await identitiesIn(site)).toBe(0);
  });

  test("signs in to no account whose address is not confirmed any more", async () => {
    const site = await startSignOnApp(mail);
    site.provider.people.set("b-1", { email: "bob@example.com", email_verified: true });
    const visitor = site.newVisitor();
    await site.signOn(visitor, "b-1");
    expect(await visitor.signedInAs()).toBe("bob@example.com");
    await changeUsers(site.app.app.domain, { confirmedAt: null }, "bob@example.com");
    expect((await site.signOn(site.newVisitor(), "b-1")).statusCode).toBe(403);
  });
});

describe("an account with a second factor", () => {
  /** @returns the function that generates its codes. */
  async function addApp(site: SignOnApp): Promise<() => string> {
    const { accounts } = site.app.app.domain;
    const client = { throttleKey: "192.0.2.7", address: "192.0.2.7", userAgent: "test" };
    const signedIn = await accounts.signIn({ email, password, client });
    const session = await accounts.authenticateSession(signedIn?.sessionToken ?? "");
    if (session === undefined) throw new Error("Nobody is signed in.");
    const offer = accounts.offerAuthenticatorApp(session, "test");
    const secret = new URL(offer.uri).searchParams.get("secret") ?? "";
    const code = () => totpCode(base32(secret), totpStep(site.app.clock.now()));
    const change = { session, client, proof: { typed: "", passkey: null } };
    const added = await accounts.addAuthenticatorApp(change, { setUp: offer.setUp, code: code() });
    expect(added.outcome).toBe("added");
    site.app.clock.advance(minuteMs);
    return code;
  }

  test("still needs it after the provider's answer", async () => {
    const site = await startSignOnApp();
    await (await signInAtProvider(site)).post(confirmPath, { password });
    await addApp(site);
    const visitor = site.newVisitor();
    const answer = await site.signOn(visitor, "a-1", { next: "/users/token" });
    expect(answer.headers.location).toBe("/users/second_factor?next=%2Fusers%2Ftoken");
    expect(await visitor.signedInAs()).toBeUndefined();
    expect((await visitor.get("/users/token")).headers.location).toMatch(/^\/users\/second_factor/);
  });

  test("is an administrator by group after the factor, too", async () => {
    const site = await startSignOnApp({ PWP__OIDC__ADMIN_GROUP: "admins" }, shapes.authentik);
    await changeUsers(site.app.app.domain, { admin: false });
    site.provider.people.set("a-1", { email, email_verified: true, groups: ["admins"] });
    const linking = site.newVisitor();
    await site.signOn(linking, "a-1");
    await linking.post(confirmPath, { password });
    const code = await addApp(site);
    const visitor = site.newVisitor();
    await site.signOn(visitor, "a-1");
    expect((await visitor.get("/admin")).statusCode).not.toBe(200);
    const { accounts } = site.app.app.domain;
    const sessionToken = visitor.cookies.get("sealpush_session") ?? "";
    const session = await accounts.authenticateSession(sessionToken);
    if (session === undefined) throw new Error("The session is gone.");
    const client = { throttleKey: "192.0.2.7", address: "192.0.2.7", userAgent: "test" };
    const given = await accounts.giveCode({ session, sessionToken, client }, code());
    visitor.cookies.set("sealpush_session", given.outcome === "complete" ? given.sessionToken : "");
    expect((await visitor.get("/admin")).statusCode).toBe(200);
    expect((await accounts.findUser(session.user.id))?.admin).toBe(false);
  });

  test("is not linked with its password alone", async () => {
    const site = await startSignOnApp();
    const code = await addApp(site);
    const visitor = await signInAtProvider(site);
    site.app.clock.advance(1_000);
    const answer = await visitor.post(confirmPath, { password });
    expect(answer.headers.location).toBe(`/users/second_factor?next=${encodeURIComponent(confirmPath)}`);
    expect(await identitiesIn(site)).toBe(0);
    // A session that waits for its factor is asked for the password again, which is not enough.
    expect((await visitor.get(confirmPath)).body).toContain('type="password"');
    await visitor.post(confirmPath);
    expect(await identitiesIn(site)).toBe(0);

    const { accounts } = site.app.app.domain;
    await visitor.post(confirmPath, { password });
    const sessionToken = visitor.cookies.get("sealpush_session") ?? "";
    const session = await accounts.authenticateSession(sessionToken);
    if (session === undefined) throw new Error("The session is gone.");
    const client = { throttleKey: "192.0.2.7", address: "192.0.2.7", userAgent: "test" };
    const given = await accounts.giveCode({ session, sessionToken, client }, code());
    if (given.outcome !== "complete") throw new Error(given.outcome);
    visitor.cookies.set("sealpush_session", given.sessionToken);
    expect((await visitor.get(confirmPath)).body).toContain(messages.consent);
    expect((await visitor.post(confirmPath)).headers.location).toBe("/users/token");
    expect(await identitiesIn(site)).toBe(1);
  });
});

describe("from the account page", () => {
  async function signedIn(site: SignOnApp): Promise<CookieClient> {
    const visitor = site.newVisitor();
    await visitor.signIn(email, password);
    return visitor;
  }

  test("an identity with another email address is linked and unlinked, each after the password", async () => {
    const site = await startSignOnApp(mail);
    site.provider.people.set("p-1", { email: "countess@elsewhere.example", email_verified: true });
    const visitor = await signedIn(site);
    expect((await visitor.get(settingsPath)).body).toContain(messages.notLinked);
    expect((await site.signOn(visitor, "p-1", { path: linkPath })).headers.location).toBe(confirmPath);
    expect((await visitor.post(confirmPath)).statusCode).toBe(401);
    expect(await identitiesIn(site)).toBe(0);
    expect((await visitor.post(confirmPath, { password })).headers.location).toBe(settingsPath);
    expect((await visitor.get(settingsPath)).body).toContain(messages.linkedSince);

    const stranger = site.newVisitor();
    await site.signOn(stranger, "p-1");
    expect(await stranger.signedInAs()).toBe(email);

    const wrong = await visitor.post(`${settingsPath}/unlink`, { password: "wrong" });
    expect([wrong.statusCode, wrong.body.includes(messages.wrongPassword), await identitiesIn(site)]).toEqual([
      422,
      true,
      1,
    ]);
    const before = await emailsIn(site);
    expect((await visitor.post(`${settingsPath}/unlink`, { password })).headers.location).toBe(settingsPath);
    expect([await identitiesIn(site), await emailsIn(site)]).toEqual([0, before + 1]);
    // No identity is linked any more, so no email is sent.
    await visitor.post(`${settingsPath}/unlink`, { password });
    expect(await emailsIn(site)).toBe(before + 1);
  });

  test("an unverified email address is not linked there either", async () => {
    const site = await startSignOnApp();
    site.provider.people.set("p-1", { email: "countess@elsewhere.example", email_verified: false });
    const visitor = await signedIn(site);
    expect((await site.signOn(visitor, "p-1", { path: linkPath })).statusCode).toBe(403);
  });

  test("the identity of another account is refused", async () => {
    const site = await startSignOnApp();
    site.provider.people.set("b-1", { email: "bob@example.com", email_verified: true });
    await site.signOn(site.newVisitor(), "b-1");
    const visitor = await signedIn(site);
    const answer = await site.signOn(visitor, "b-1", { path: linkPath });
    expect([answer.statusCode, answer.body.includes(messages.linkedElsewhere)]).toEqual([403, true]);
    expect(await visitor.signedInAs()).toBe(email);
  });

  test("the user must still be signed in when the provider answers", async () => {
    const site = await startSignOnApp();
    site.provider.people.set("p-1", { email: "countess@elsewhere.example", email_verified: true });
    const visitor = await signedIn(site);
    const callback = await site.goAndReturn(visitor, "p-1", { path: linkPath });
    visitor.cookies.delete("sealpush_session");
    expect((await visitor.get(callback)).statusCode).toBe(400);
    expect((await visitor.get(confirmPath)).statusCode).toBe(400);
  });

  test("the only way to sign in cannot be unlinked", async () => {
    const site = await startSignOnApp();
    site.provider.people.set("b-1", { email: "bob@example.com", email_verified: true });
    const visitor = site.newVisitor();
    await site.signOn(visitor, "b-1");
    expect((await visitor.get(settingsPath)).body).toContain(messages.onlyWayIn);
    for (const given of ["", "anything"]) await visitor.post(`${settingsPath}/unlink`, { password: given });
    expect(await identitiesIn(site)).toBe(1);
  });
});

/** RFC 4648, section 6. */
function base32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  );
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
