import { describe, expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { password } from "../support/app.ts";
import { addPasskey, codesIn, eve, isIn, openFixture, optionsFor, tokenOf } from "../support/factor-pages.ts";

const { factors } = en;

describe("a passkey", () => {
  test("is added with a name, works as second factor, and is removed", async () => {
    const fixture = await openFixture();
    const owner = await fixture.signIn();
    const { authenticator, answer } = await addPasskey(owner, "<b>laptop</b>");
    expect(codesIn(answer.body)).toHaveLength(10);
    const page = await owner.get("/users/factors");
    expect(page.body).toContain("&lt;b>laptop&lt;/b>");

    const visitor = await fixture.signIn();
    expect(await isIn(visitor)).toBe(false);
    const passkey = authenticator.get(await optionsFor(visitor, "/users/second_factor/options"));
    const wrong = await visitor.post("/users/second_factor", { passkey: "{}" });
    expect(wrong.statusCode).toBe(401);
    expect(wrong.body).toContain(factors.passkeys.bad);
    expect((await visitor.post("/users/second_factor", { passkey })).statusCode).toBe(303);
    expect(await isIn(visitor)).toBe(true);

    const remove = /action="(\/users\/factors\/passkeys\/\d+\/remove)"/.exec(page.body)?.[1] ?? "";
    expect((await owner.post(remove, { proof: "" })).statusCode).toBe(422);
    expect((await owner.post(remove, { proof: password })).statusCode).toBe(303);
    expect(await isIn(await fixture.signIn())).toBe(true);
  });

  test("signs in without a password, to the requested page and to no other site", async () => {
    const fixture = await openFixture();
    const { authenticator } = await addPasskey(await fixture.signIn(), "laptop");
    for (const [next, location] of [
      ["/users/token", "/users/token"],
      ["//evil.example", "/"],
      ["https://evil.example", "/"],
    ] as const) {
      const visitor = fixture.newVisitor();
      const passkey = authenticator.get(await optionsFor(visitor, "/users/sign_in/passkey/options"));
      const answer = await visitor.post("/users/sign_in/passkey", { passkey, next });
      expect([answer.statusCode, answer.headers.location]).toEqual([303, location]);
      expect(await isIn(visitor)).toBe(true);
      const replayed = fixture.newVisitor();
      const refused = await replayed.post("/users/sign_in/passkey", { passkey });
      expect(refused.statusCode).toBe(401);
      expect(refused.body).toContain(factors.passkeys.signInWrong);
      expect(replayed.cookies.size).toBe(0);
    }
  });

  test("replaces the browser's session, which prevents session fixation", async () => {
    const fixture = await openFixture();
    const { authenticator } = await addPasskey(await fixture.signIn(), "laptop");
    const visitor = await fixture.signIn(eve);
    const fixed = tokenOf(visitor);
    const passkey = authenticator.get(await optionsFor(visitor, "/users/sign_in/passkey/options"));
    await visitor.post("/users/sign_in/passkey", { passkey });
    expect(tokenOf(visitor)).not.toBe(fixed);
    expect(await fixture.app.app.domain.accounts.authenticateSession(fixed)).toBeUndefined();
  });

  test("is not offered where browsers do not support it", async () => {
    const fixture = await openFixture({ environment: { PWP__OVERRIDE_BASE_URL: "http://192.0.2.1" } });
    const visitor = await fixture.signIn();
    expect((await visitor.get("/users/factors")).body).toContain(factors.passkeys.noDomain);
    expect((await visitor.get("/users/sign_in")).body).not.toContain("data-passkey");
    expect((await visitor.post("/users/factors/passkeys/options")).statusCode).toBe(404);
    expect((await visitor.post("/users/sign_in/passkey/options")).statusCode).toBe(404);
  });

  test("belongs to the host name of the base URL", async () => {
    const fixture = await openFixture({ environment: { PWP__OVERRIDE_BASE_URL: "https://push.example.com:8443" } });
    const { rpId } = await optionsFor(fixture.newVisitor(), "/users/sign_in/passkey/options");
    expect(rpId).toBe("push.example.com");
  });

  test("does not sign in when sign-in is disabled", async () => {
    const fixture = await openFixture({ environment: { PWP__DISABLE_LOGINS: "true" } });
    const visitor = fixture.newVisitor();
    expect((await visitor.post("/users/sign_in/passkey/options")).statusCode).toBe(403);
    expect((await visitor.post("/users/sign_in/passkey", { passkey: "{}" })).statusCode).toBe(403);
  });
});
