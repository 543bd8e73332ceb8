import { describe, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { password } from "../support/app.ts";
import { CookieClient } from "../support/cookie-client.ts";
import {
  ada,
  addPasskey,
  codesIn,
  eve,
  hidden,
  isIn,
  openFixture,
  setUpApp,
  tokenOf,
} from "../support/factor-pages.ts";
import { appFor } from "../support/factors.ts";

const { factors } = en;

describe("an authenticator app", () => {
  test("is set up, requested, and signs in with a new session to the requested page", async () => {
    const fixture = await openFixture();
    const first = await fixture.signIn();
    const { code, backupCodes } = await setUpApp(fixture, first);
    expect(backupCodes).toHaveLength(10);
    expect((await first.get("/users/factors")).body).toContain(factors.codes.left({ count: 10 }));
    expect((await first.get("/users/factors")).body).not.toContain(backupCodes[0] ?? "?");

    const visitor = fixture.newVisitor();
    const next = "/users/token?a=1";
    const signedIn = await visitor.post("/users/sign_in", { email: ada, password, next });
    expect(signedIn.headers.location).toBe(`/users/second_factor?next=${encodeURIComponent(next)}`);
    const before = tokenOf(visitor);
    const page = await visitor.get(String(signedIn.headers.location));
    expect(hidden(page.body, "next")).toBe(next);
    expect(await isIn(visitor)).toBe(false);
    const given = await visitor.post("/users/second_factor", { code: code(), next });
    expect([given.statusCode, given.headers.location]).toEqual([303, next]);
    expect(tokenOf(visitor)).not.toBe(before);
    expect(await isIn(visitor)).toBe(true);
  });

  test("has no effect before its first right code", async () => {
    const fixture = await openFixture();
    const visitor = await fixture.signIn();
    const page = await visitor.get("/users/factors/authenticator_app");
    const set_up = hidden(page.body, "set_up");
    const wrong = await visitor.post("/users/factors/authenticator_app", { set_up, code: "000000" });
    expect(wrong.statusCode).toBe(422);
    expect(wrong.body).toContain(factors.app.wrong);
    // The same key again, because the phone already has it.
    expect(hidden(wrong.body, "set_up")).toBe(set_up);
    expect(await isIn(await fixture.signIn())).toBe(true);
  });

  test("of another session's set-up is refused (a key planted by an attacker)", async () => {
    const fixture = await openFixture();
    const attacker = await fixture.signIn(eve);
    const page = await attacker.get("/users/factors/authenticator_app");
    const key = /<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(page.body)?.[1] ?? "";
    const { code } = appFor(key, () => fixture.app.clock.now());
    const victim = await fixture.signIn();
    const planted = await victim.post("/users/factors/authenticator_app", {
      set_up: hidden(page.body, "set_up"),
      code: code(),
    });
    expect(planted.statusCode).toBe(422);
    expect(planted.body).toContain(factors.app.stale);
    expect(await isIn(await fixture.signIn())).toBe(true);
  });

  test("TOTP reuse: a used code is refused to everybody", async () => {
    const fixture = await openFixture();
    const { code } = await setUpApp(fixture, await fixture.signIn());
    const used = code();
    const [one, two] = [await fixture.signIn(), await fixture.signIn()];
    expect((await one.post("/users/second_factor", { code: used })).statusCode).toBe(303);
    const again = await two.post("/users/second_factor", { code: used });
    expect(again.statusCode).toBe(401);
    expect(again.body).toContain(factors.challenge.wrong);
    expect(again.body).not.toContain(used);
    expect(await isIn(two)).toBe(false);
  });
});

describe("the first factor", () => {
  test("needs the password ten minutes after the sign-in, against planting at an unattended screen", async () => {
    const fixture = await openFixture();
    const visitor = await fixture.signIn();
    fixture.app.clock.advance(11 * minuteMs);
    const page = await visitor.get("/users/factors/authenticator_app");
    expect(page.body).toContain('name="proof"');
    const key = /<output[^>]*>([A-Z2-7 ]+)<\/output>/.exec(page.body)?.[1] ?? "";
    const { code } = appFor(key, () => fixture.app.clock.now());
    const set_up = hidden(page.body, "set_up");
    for (const proof of ["", "not the password", code()]) {
      const refused = await visitor.post("/users/factors/authenticator_app", { set_up, code: code(), proof });
      expect([refused.statusCode, refused.body.includes(factors.proof.wrong)]).toEqual([422, true]);
    }
    expect((await addPasskey(visitor, "planted")).answer.statusCode).toBe(422);
    expect(await isIn(await fixture.signIn())).toBe(true);
    const answer = await visitor.post("/users/factors/authenticator_app", { set_up, code: code(), proof: password });
    expect(codesIn(answer.body)).toHaveLength(10);
    expect(await isIn(await fixture.signIn())).toBe(false);
  });
});

describe("backup codes", () => {
  test("backup code reuse: each code signs in once", async () => {
    const fixture = await openFixture();
    const { backupCodes } = await setUpApp(fixture, await fixture.signIn());
    const [code = ""] = backupCodes;
    const [one, two] = [await fixture.signIn(), await fixture.signIn()];
    expect((await one.post("/users/second_factor", { backup_code: code.toUpperCase() })).statusCode).toBe(303);
    expect((await two.post("/users/second_factor", { backup_code: code })).statusCode).toBe(401);
    expect((await one.get("/users/factors")).body).toContain(factors.codes.left({ count: 9 }));
  });

  test("are regenerated after the password was entered, and the old ones become invalid", async () => {
    const fixture = await openFixture();
    const visitor = await fixture.signIn();
    const { backupCodes } = await setUpApp(fixture, visitor);
    const refused = await visitor.post("/users/factors/backup_codes", { proof: "wrong" });
    expect(refused.statusCode).toBe(422);
    expect(refused.body).toContain(factors.proof.wrong);
    const made = codesIn((await visitor.post("/users/factors/backup_codes", { proof: password })).body);
    expect(made).toHaveLength(10);
    const old = await fixture.signIn();
    expect((await old.post("/users/second_factor", { backup_code: backupCodes[0] ?? "" })).statusCode).toBe(401);
    expect((await old.post("/users/second_factor", { backup_code: made[0] ?? "" })).statusCode).toBe(303);
  });
});

describe("brute force of codes", () => {
  test("is stopped after ten wrong codes over all forms together, with the time to wait", async () => {
    const fixture = await openFixture();
    const owner = await fixture.signIn();
    const { code } = await setUpApp(fixture, owner);
    const wrongCode = { code: "000000" };
    const setUp = hidden((await owner.get("/users/factors/authenticator_app")).body, "set_up");
    const doors: readonly (() => Promise<{ statusCode: number }>)[] = [
      async () => (await fixture.signIn()).post("/users/second_factor", wrongCode),
      async () => (await fixture.signIn()).post("/users/second_factor", { backup_code: "7k2m-7k2m-7k2m-7k2m" }),
      () => owner.post("/users/factors/authenticator_app", { set_up: setUp, ...wrongCode, proof: password }),
      () => owner.post("/users/factors/authenticator_app/remove", { proof: "000000" }),
      () => owner.post("/users/factors/backup_codes", { proof: "7k2m7k2m7k2m7k2m" }),
    ];
    for (const door of [...doors, ...doors]) expect([401, 422]).toContain((await door()).statusCode);
    for (const door of doors) expect((await door()).statusCode).toBe(429);

    const late = await (await fixture.signIn()).post("/users/second_factor", { code: code() });
    expect([late.statusCode, Number(late.headers["retry-after"])]).toEqual([429, expect.any(Number)]);
    expect(late.body).toContain("Too many wrong codes");
    // Other accounts are not affected.
    await setUpApp(fixture, await fixture.signIn(eve));
    fixture.app.clock.advance(15 * minuteMs);
    expect((await (await fixture.signIn()).post("/users/second_factor", { code: code() })).statusCode).toBe(303);
  });

  test("is counted over simultaneous sessions", async () => {
    const fixture = await openFixture();
    await setUpApp(fixture, await fixture.signIn());
    const visitors: CookieClient[] = [];
    while (visitors.length < 20) visitors.push(await fixture.signIn());
    const answers = await Promise.all(visitors.map((each) => each.post("/users/second_factor", { code: "000000" })));
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(10);
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(10);
  });
});

describe("a sign-in that waits for its factor", () => {
  test("can do nothing else: every route answers as if signed out, or redirects to the second factor", async () => {
    const fixture = await openFixture();
    await setUpApp(fixture, await fixture.signIn());
    const [waiting, stranger] = [await fixture.signIn(), fixture.newVisitor()];
    for (const { method, pattern, access } of fixture.app.app.routes) {
      // Signing out ends the session, and the pages for the second factor are open to it.
      if (method === "HEAD" || access === "page_waiting" || pattern === "/users/sign_out") continue;
      const url = pattern.replace(/:[a-z_]+/g, "1");
      const [theirs, strangers] = [await waiting.ask(method, url), await stranger.ask(method, url)];
      const at = `${method} ${pattern}`;
      const isSentToFactor = theirs.headers.location?.startsWith("/users/second_factor") === true;
      if (isSentToFactor && strangers.headers.location !== theirs.headers.location) {
        expect([at, theirs.statusCode]).toEqual([at, 303]);
      } else {
        expect([at, theirs.statusCode]).toEqual([at, strangers.statusCode]);
        expect([at, withoutChance(theirs.body) === withoutChance(strangers.body)]).toEqual([at, true]);
      }
    }
    // The session still waits, so these answers were given to a waiting session and not to a stranger.
    expect((await waiting.get("/users/second_factor")).statusCode).toBe(200);
  });

  test("ends no session of the user, however often somebody signs in with the password alone", async () => {
    const fixture = await openFixture();
    const owner = await fixture.signIn();
    await setUpApp(fixture, owner);
    for (let at = 0; at < 51; at += 1) await fixture.signIn();
    expect(await isIn(owner)).toBe(true);
  });

  test("goes on waiting, however often somebody signs in elsewhere with the password alone", async () => {
    const fixture = await openFixture();
    const { code } = await setUpApp(fixture, await fixture.signIn());
    const owner = new CookieClient(fixture.app, "192.0.2.1");
    await owner.signIn(ada, password);
    // One sender has a whole IPv6 /48.
    const signInFrom = (address: string) => new CookieClient(fixture.app, address).signIn(ada, password);
    for (let at = 0; at < 60; at += 1) await signInFrom(`2001:db8:1:${at.toString(16)}::1`);
    for (let at = 0; at < 60; at += 1) await signInFrom("198.51.100.1");
    expect((await owner.post("/users/second_factor", { code: code() })).statusCode).toBe(303);
    expect(await isIn(owner)).toBe(true);
  });

  test("ends with sign-out, after ten minutes, and when the factor was given", async () => {
    const fixture = await openFixture();
    const { code } = await setUpApp(fixture, await fixture.signIn());
    const factorPage = async (visitor: CookieClient) => (await visitor.get("/users/second_factor")).statusCode;

    const left = await fixture.signIn();
    const copy = fixture.newVisitor();
    for (const [name, value] of left.cookies) copy.cookies.set(name, value);
    expect(await factorPage(copy)).toBe(200);
    await left.post("/users/sign_out");
    expect(await factorPage(copy)).toBe(303);

    const late = await fixture.signIn();
    fixture.app.clock.advance(10 * minuteMs);
    expect(await factorPage(late)).toBe(303);

    const given = await fixture.signIn();
    const copied = fixture.newVisitor();
    for (const [name, value] of given.cookies) copied.cookies.set(name, value);
    expect((await given.post("/users/second_factor", { code: code() })).statusCode).toBe(303);
    expect(await factorPage(copied)).toBe(303);
    expect(await isIn(copied)).toBe(false);
  });

  test("does not redirect to another site afterwards", async () => {
    const fixture = await openFixture();
    const { backupCodes } = await setUpApp(fixture, await fixture.signIn());
    for (const [at, next] of [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "/..//evil.example",
    ].entries()) {
      const visitor = await fixture.signIn();
      const page = await visitor.get(`/users/second_factor?next=${encodeURIComponent(next)}`);
      expect(page.body).not.toContain("evil.example");
      const answer = await visitor.post("/users/second_factor", { backup_code: backupCodes[at] ?? "", next });
      expect(answer.headers.location).toBe("/");
    }
  });
});

describe("changing factors", () => {
  test("ends all other sessions of the account, and of no other user", async () => {
    const fixture = await openFixture();
    const [owner, other, stranger] = [await fixture.signIn(), await fixture.signIn(), await fixture.signIn(eve)];
    await setUpApp(fixture, owner);
    expect([await isIn(owner), await isIn(other), await isIn(stranger)]).toEqual([true, false, true]);
  });

  test("IDOR: a passkey of another user is answered like an unknown one, and stays", async () => {
    const fixture = await openFixture();
    await addPasskey(await fixture.signIn(), "mine");
    const thief = await fixture.signIn(eve);
    await addPasskey(thief, "hers");
    for (const id of ["1", "999", "0", "-1", "1e3", "x"]) {
      const answer = await thief.post(`/users/factors/passkeys/${id}/remove`, { proof: password });
      expect([id, answer.statusCode]).toEqual([id, 404]);
    }
    const { accounts } = fixture.app.app.domain;
    const user = await accounts.findUserByEmail(ada);
    expect((await accounts.findFactors(user?.id ?? 0)).passkeys).toHaveLength(1);
  });

  test("never repeats input: no password, code or secret is returned or logged", async () => {
    const fixture = await openFixture();
    const owner = await fixture.signIn();
    const { code, backupCodes } = await setUpApp(fixture, owner);
    const secrets = [password, "guessed-password-1", code(), backupCodes[0] ?? "?"];
    const bodies: string[] = [];
    for (const proof of secrets.slice(1)) {
      bodies.push((await owner.post("/users/factors/passkeys", { name: "x", passkey: "{}", proof })).body);
      bodies.push((await (await fixture.signIn()).post("/users/second_factor", { code: `${proof} ` })).body);
    }
    for (const secret of secrets) {
      expect(bodies.some((body) => body.includes(secret))).toBe(false);
      expect(fixture.app.logLines.some((line) => line.includes(secret))).toBe(false);
    }
  });
});

/** Removes the parts that differ between any two responses. */
function withoutChance(body: string): string {
  return body
    .replace(/<input type="hidden" name="form_token"[^>]*>/g, "")
    .replace(/"challenge":"[^"]*"/, "")
    .replace(/[0-9a-f]{16}/g, "");
}
