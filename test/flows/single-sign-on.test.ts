import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { sql } from "../../src/database/statement.ts";
import { en } from "../../src/i18n/i18n.ts";
import { changeUsers } from "../support/access-rows.ts";
import { password } from "../support/app.ts";
import { changeRows, countRows } from "../support/engine-database.ts";
import { clientSecret, providerName } from "../support/provider.ts";
import { startSignOnApp, urlOf } from "../support/sign-on.ts";

const messages = en.singleSignOn;
const bob = { email: "bob@example.com", email_verified: true };

test.each([
  ["with a provider", {}, true],
  ["without sign-ins", { PWP__DISABLE_LOGINS: "true" }, false],
  ["without a provider", { PWP__OIDC__ISSUER: "" }, false],
])("sign-on is among the features of a server %s: %j, %s", async (_, environment, isListed) => {
  const { app } = await startSignOnApp(environment);
  const { features } = (await app.server.inject({ url: "/api/sealpush" })).json();
  expect(features.includes("sign-on")).toBe(isListed);
});

describe("signing in at the provider", () => {
  test("creates a confirmed account without a password, and returns to where it began", async () => {
    const { app, provider, signOn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    const answer = await signOn(visitor, "b-1", { next: "/users/token?x=1" });
    expect([answer.statusCode, answer.headers.location]).toEqual([303, "/users/token?x=1"]);
    expect(await visitor.signedInAs()).toBe(bob.email);
    const user = await app.app.domain.accounts.findUserByEmail(bob.email);
    expect(user).toMatchObject({ admin: false, hasPassword: false, disabledAt: null });
    expect(user?.confirmedAt).not.toBeNull();

    const again = newVisitor();
    expect((await signOn(again, "b-1")).headers.location).toBe("/");
    expect(await again.signedInAs()).toBe(bob.email);
    expect((await app.app.domain.accounts.findUserByEmail(bob.email))?.id).toBe(user?.id);
  });

  test("uses PKCE, state and nonce, and requests only the identity", async () => {
    const { provider, newVisitor } = await startSignOnApp();
    const asked = new URL(urlOf((await newVisitor().post("/users/auth/oidc")).body));
    expect(asked.origin).toBe(provider.issuer);
    const { state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(asked.searchParams);
    for (const value of [state, nonce, challenge]) expect(value).toMatch(/^[\w-]{43}$/);
    expect(new Set([state, nonce, challenge]).size).toBe(3);
    expect(rest).toEqual({
      client_id: "sealpush",
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: "http://push.test/users/auth/oidc/callback",
      scope: "openid email profile",
    });
  });

  test("replaces the current session, whose cookie is then invalid", async () => {
    const { provider, signOn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    await visitor.signIn("ada@example.com", password);
    const copy = newVisitor();
    for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
    await signOn(visitor, "b-1");
    expect(await visitor.signedInAs()).toBe(bob.email);
    expect(await copy.signedInAs()).toBeUndefined();
  });

  test("identifies by subject: another email address at the provider changes nothing", async () => {
    const { provider, signOn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    await signOn(newVisitor(), "b-1");
    provider.people.set("b-1", { email: "ada@example.com", email_verified: true });
    const visitor = newVisitor();
    await signOn(visitor, "b-1");
    expect(await visitor.signedInAs()).toBe(bob.email);
  });
});

test("where second factors are required, redirects to their set-up and nowhere else", async () => {
  const { provider, signOn, newVisitor } = await startSignOnApp({ PWP__REQUIRE_MFA: "true" });
  provider.people.set("b-1", bob);
  const visitor = newVisitor();
  await signOn(visitor, "b-1");
  for (const path of ["/users/token", "/users/edit", "/users/single_sign_on"]) {
    expect((await visitor.get(path)).headers.location).toBe("/users/factors");
  }
  expect((await visitor.get("/users/factors")).statusCode).toBe(200);
});

describe("the callback", () => {
  test.each(["//evil.example", "https://evil.example/", "/\\evil.example", "/..//evil.example", "javascript:alert(1)"])(
    "never leads to another site: %j",
    async (next) => {
      const { provider, signOn, newVisitor } = await startSignOnApp();
      provider.people.set("b-1", bob);
      expect((await signOn(newVisitor(), "b-1", { next })).headers.location).toBe("/");
    },
  );

  test("is refused with a wrong state, and still works with the right one", async () => {
    const { provider, goAndReturn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    const callback = await goAndReturn(visitor, "b-1");
    for (const state of ["x".repeat(43), ""]) {
      const wrong = new URL(callback, "http://push.test");
      wrong.searchParams.set("state", state);
      expect((await visitor.get(wrong.pathname + wrong.search)).statusCode).toBe(400);
    }
    expect((await visitor.get(callback)).statusCode).toBe(303);
    expect(await visitor.signedInAs()).toBe(bob.email);
  });

  test("works once", async () => {
    const { provider, goAndReturn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    const callback = await goAndReturn(visitor, "b-1");
    const step = new Map(visitor.cookies);
    const answers = await Promise.all([visitor.get(callback), visitor.get(callback), visitor.get(callback)]);
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([303, 400, 400]);
    const replay = newVisitor();
    for (const [name, value] of step) replay.cookies.set(name, value);
    const replayed = await replay.get(callback);
    expect([replayed.statusCode, replayed.body.includes(messages.invalid)]).toEqual([400, true]);
    expect(await replay.signedInAs()).toBeUndefined();
  });

  test("works only in the browser where it began", async () => {
    const { provider, goAndReturn, newVisitor } = await startSignOnApp();
    provider.people.set("m-1", { email: "mallory@example.com", email_verified: true });
    const callback = await goAndReturn(newVisitor(), "m-1");
    const victim = newVisitor();
    expect((await victim.get(callback)).statusCode).toBe(400);
    await goAndReturn(victim, "m-1");
    expect((await victim.get(callback)).statusCode).toBe(400);
    expect(await victim.signedInAs()).toBeUndefined();
  });

  test("expires after ten minutes", async () => {
    const { app, provider, goAndReturn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    const callback = await goAndReturn(visitor, "b-1");
    app.clock.advance(10 * minuteMs);
    expect((await visitor.get(callback)).statusCode).toBe(400);
  });

  test("is not used up by HEAD or by a prefetch", async () => {
    const { provider, goAndReturn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    const callback = await goAndReturn(visitor, "b-1");
    expect((await visitor.get(callback, "HEAD")).statusCode).toBe(200);
    expect((await visitor.get(callback, "GET", { "sec-purpose": "prefetch" })).statusCode).toBe(503);
    expect((await visitor.get(callback)).statusCode).toBe(303);
  });

  test("reports that the provider refused, without the provider's text", async () => {
    const { app, provider, newVisitor } = await startSignOnApp();
    const visitor = newVisitor();
    const leaving = await visitor.post("/users/auth/oidc");
    provider.answer = { error: "access_denied", error_description: "<script>alert(1)</script> call 555-1234" };
    const answer = await visitor.get(await provider.followRedirects(urlOf(leaving.body)));
    expect([answer.statusCode, answer.body.includes(messages.denied)]).toEqual([403, true]);
    expect(answer.body).not.toContain("555-1234");
    expect(app.logLines.join("\n")).not.toContain("555-1234");
  });
});

test("sign-ons that one IPv6 network begins take only few of the places of all", async () => {
  const { app, provider, goAndReturn, newVisitor } = await startSignOnApp();
  provider.people.set("b-1", bob);
  const visitor = newVisitor();
  const callback = await goAndReturn(visitor, "b-1");
  for (let at = 0; at < 410; at += 1) {
    const answer = await app.server.inject({
      method: "POST",
      url: "/users/auth/oidc",
      remoteAddress: `2001:db8:1:${at.toString(16)}::1`,
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect(answer.statusCode).toBe(200);
  }
  expect(await countRows(app.app.domain.db, "sign_on_steps")).toBe(401);
  expect((await visitor.get(callback)).statusCode).toBe(303);
});

describe("a user without an account", () => {
  test("gets none without a verified email address", async () => {
    const { app, provider, signOn, newVisitor } = await startSignOnApp();
    const claims = [{ email: bob.email }, { ...bob, email_verified: false }, { ...bob, email_verified: "true" }, {}];
    for (const [at, person] of claims.entries()) {
      provider.people.set(`b-${at}`, person as typeof bob);
      const visitor = newVisitor();
      const answer = await signOn(visitor, `b-${at}`);
      expect([answer.statusCode, answer.body.includes(messages.unverified)]).toEqual([403, true]);
      expect(await visitor.signedInAs()).toBeUndefined();
    }
    expect(await app.app.domain.accounts.findUserByEmail(bob.email)).toBeUndefined();
  });

  test.each([
    ["sign-ups are closed", { PWP__DISABLE_SIGNUPS: "true" }],
    ["the email address may not sign up", { PWP__SIGNUP_EMAIL_REGEXP: "@corp\\.example$" }],
  ])("gets none when %s", async (_why, environment) => {
    const { app, provider, signOn, newVisitor } = await startSignOnApp(environment);
    provider.people.set("b-1", bob);
    const answer = await signOn(newVisitor(), "b-1");
    expect([answer.statusCode, answer.body.includes(messages.noAccount)]).toEqual([403, true]);
    expect(await app.app.domain.accounts.findUserByEmail(bob.email)).toBeUndefined();
  });

  test("never becomes the first account of a server, which has to be its administrator's", async () => {
    const { app, provider, signOn, newVisitor } = await startSignOnApp();
    await changeRows(app.app.domain.db, "DELETE FROM users");
    provider.people.set("b-1", bob);
    expect((await signOn(newVisitor(), "b-1")).statusCode).toBe(403);
    expect(await app.app.domain.accounts.findUserByEmail(bob.email)).toBeUndefined();
  });

  test("cannot use a disabled account, whatever the provider says", async () => {
    const { app, provider, signOn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob).set("b-2", { ...bob });
    await signOn(newVisitor(), "b-1");
    await changeUsers(app.app.domain, { disabledAt: 1 }, "bob@example.com");
    for (const person of ["b-1", "b-2"]) {
      const visitor = newVisitor();
      const answer = await signOn(visitor, person);
      expect([answer.statusCode, answer.body.includes(messages.noAccount)]).toEqual([403, true]);
      expect(await visitor.signedInAs()).toBeUndefined();
    }
  });
});

describe("a server", () => {
  test("without single sign-on has none of its routes and shows no button", async () => {
    const { newVisitor } = await startSignOnApp({ PWP__OIDC__ISSUER: "" });
    const visitor = newVisitor();
    expect((await visitor.get("/users/sign_in")).body).not.toContain("/users/auth/oidc");
    expect((await visitor.post("/users/auth/oidc")).statusCode).toBe(404);
    for (const path of ["callback?code=a&state=b", "confirm"]) {
      expect((await visitor.get(`/users/auth/oidc/${path}`)).statusCode).toBe(404);
    }
    await visitor.signIn("ada@example.com", password);
    expect((await visitor.get("/users/single_sign_on")).statusCode).toBe(404);
  });

  test("with sign-in disabled allows no single sign-on either", async () => {
    const { newVisitor } = await startSignOnApp({ PWP__DISABLE_LOGINS: "true" });
    expect((await newVisitor().post("/users/auth/oidc")).statusCode).toBe(404);
    expect((await newVisitor().get("/users/auth/oidc/callback?code=a&state=b")).statusCode).toBe(404);
  });

  test("whose provider is down says so, and logs no secret", async () => {
    const { app, provider, newVisitor } = await startSignOnApp();
    await provider.close();
    const visitor = newVisitor();
    const answer = await visitor.post("/users/auth/oidc");
    expect([answer.statusCode, answer.body.includes(messages.unreachable({ name: providerName }))]).toEqual([
      503,
      true,
    ]);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect(app.logLines.join("\n")).toContain("refused_unavailable");
    expect(app.logLines.join("\n")).not.toContain(clientSecret);
  });

  test("that loses its provider during the callback starts no session", async () => {
    const { provider, goAndReturn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    const callback = await goAndReturn(visitor, "b-1");
    await provider.close();
    expect((await visitor.get(callback)).statusCode).toBe(503);
    expect(await visitor.signedInAs()).toBeUndefined();
  });

  test.each([
    { what: "a limit", status: 429, headers: { "content-type": "application/json" } },
    { what: "a page of its maintenance", status: 200, headers: { "content-type": "text/html; charset=utf-8" } },
    { what: "a redirect", status: 302, headers: { location: "/maintenance" } },
  ])("whose provider has only $what for the callback says that it cannot be reached", async ({ status, headers }) => {
    const { provider, goAndReturn, newVisitor } = await startSignOnApp();
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    const callback = await goAndReturn(visitor, "b-1");
    await provider.close();
    const standIn = createServer((_request, response) => response.writeHead(status, headers).end());
    onTestFinished(() => void standIn.close());
    await once(standIn.listen(Number(new URL(provider.issuer).port), "127.0.0.1"), "listening");
    const answer = await visitor.get(callback);
    expect([answer.statusCode, answer.body.includes(messages.unreachable({ name: providerName }))]).toEqual([
      503,
      true,
    ]);
    expect(await visitor.signedInAs()).toBeUndefined();
  });

  test("keeps no secret of a sign-on readable in its database or its log", async () => {
    const { app, provider, goAndReturn, newVisitor } = await startSignOnApp();
    provider.people.set("a-1", { email: "ada@example.com", email_verified: true });
    const visitor = newVisitor();
    const callback = await goAndReturn(visitor, "a-1");
    const state = new URL(callback, "http://push.test").searchParams.get("state") ?? "";
    const token = visitor.cookies.get("sealpush_sign_on") ?? "";
    const steps = await app.app.domain.db.read.all(
      sql<[], { digest: Buffer; sealed: Buffer }>("SELECT digest, step_sealed AS sealed FROM sign_on_steps"),
    );
    expect(steps).toHaveLength(1);
    const stored = steps.map((step) => `${step.digest.toString("latin1")}${step.sealed.toString("latin1")}`);
    for (const secret of [state, token]) {
      expect(secret).toMatch(/^[\w-]{43}$/);
      expect(`${stored.join()}${app.logLines.join("\n")}`).not.toContain(secret);
    }
    await visitor.get(callback);
    expect(app.logLines.join("\n")).not.toContain(state);
  });
});
