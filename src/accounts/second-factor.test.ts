import { describe, expect, test } from "vitest";
import { makeUser, openSettings, password } from "../../test/support/accounts.ts";
import { TestAuthenticator } from "../../test/support/authenticator.ts";
import {
  addApp,
  addPasskey,
  appFor,
  changeBy,
  openFactorWorld,
  party,
  place,
  signInAs,
} from "../../test/support/factors.ts";
import { minuteMs } from "../base/clock.ts";
import type { AccountsDeps } from "./accounts.ts";

/** An account with an app. */
async function openAppWorld(overrides: Partial<AccountsDeps> = {}) {
  const opened = await openFactorWorld(overrides);
  const { session } = await opened.signIn();
  return { ...opened, ...(await addApp(opened.world, session)) };
}

describe("a code of the app", () => {
  test("completes the sign-in with a new token, and the waiting one is gone", async () => {
    const { accounts, signIn, app } = await openAppWorld();
    const waiting = await signIn();
    expect(waiting.session.waitsForFactor).toBe(true);
    const given = await accounts.giveCode({ ...waiting, place }, app.code());
    if (given.outcome !== "complete") throw new Error(given.outcome);
    expect(given.sessionToken).not.toBe(waiting.sessionToken);
    expect(await accounts.authenticateSession(waiting.sessionToken)).toBeUndefined();
    expect(await accounts.authenticateSession(given.sessionToken)).toMatchObject({ waitsForFactor: false });
  });

  test("of one time step lets one racer in, however many bring it", async () => {
    const { accounts, signIn, app } = await openAppWorld();
    const waiting = await Promise.all(Array.from({ length: 8 }, signIn));
    const code = app.code();
    const given = await Promise.all(waiting.map((each) => accounts.giveCode({ ...each, place }, code)));
    expect(given.filter(({ outcome }) => outcome === "complete")).toHaveLength(1);
  });

  test("lets one racer in from copies of one waiting cookie, with different codes too", async () => {
    const { accounts, signIn, app, backupCodes } = await openAppWorld();
    const waiting = await signIn();
    const codes = [app.code(), ...backupCodes.slice(0, 3)];
    const given = await Promise.all(codes.map((code) => accounts.giveCode({ ...waiting, place }, code)));
    expect(given.map(({ outcome }) => outcome).sort()).toEqual(["complete", "over", "over", "over"]);
    // What came too late has used nothing up.
    expect((await accounts.findFactors(waiting.session.user.id)).backupCodesLeft).toBe(10);
  });

  test("does not count again, nor does one of an earlier step after it", async () => {
    const { give, app, advance } = await openAppWorld();
    const earlier = app.code();
    advance(30_000);
    const code = app.code();
    expect((await give(code)).outcome).toBe("complete");
    expect((await give(code)).outcome).toBe("wrong");
    expect((await give(earlier)).outcome).toBe("wrong");
  });

  test("that confirmed the app does not sign in as well", async () => {
    const { accounts, signIn, now, give } = await openFactorWorld();
    const { session } = await signIn();
    const offer = accounts.offerAuthenticatorApp(session, "Sealpush");
    const code = appFor(offer.uri, now).code();
    await accounts.addAuthenticatorApp(changeBy(session), { setUp: offer.setUp, code });
    expect((await give(code)).outcome).toBe("wrong");
  });

  test("comes too late when the sign-in has waited for ten minutes", async () => {
    const { accounts, signIn, app, advance } = await openAppWorld();
    const waiting = await signIn();
    advance(10 * minuteMs);
    expect((await accounts.giveCode({ ...waiting, place }, app.code())).outcome).toBe("over");
  });

  test("does not let a disabled account in", async () => {
    const { accounts, db, signIn, app } = await openAppWorld();
    const waiting = await signIn();
    db.writer.prepare("UPDATE users SET disabled_at = 1").run();
    expect((await accounts.giveCode({ ...waiting, place }, app.code())).outcome).toBe("over");
  });
});

describe("a backup code", () => {
  test("counts once, whoever comes at the same time", async () => {
    const { accounts, signIn, backupCodes } = await openAppWorld();
    expect(backupCodes).toHaveLength(10);
    const code = backupCodes[0] ?? "";
    const waiting = await Promise.all(Array.from({ length: 5 }, signIn));
    const given = await Promise.all(waiting.map((each) => accounts.giveCode({ ...each, place }, code)));
    expect(given.filter(({ outcome }) => outcome === "complete")).toHaveLength(1);
    const later = await signIn();
    expect((await accounts.giveCode({ ...later, place }, code)).outcome).toBe("wrong");
    expect((await accounts.findFactors(later.session.user.id)).backupCodesLeft).toBe(9);
  });

  test("lies in the store as a digest alone", async () => {
    const { db, backupCodes } = await openAppWorld();
    const stored = JSON.stringify(db.reader.prepare("SELECT hex(digest) FROM backup_codes").all());
    for (const code of backupCodes) {
      expect(stored).not.toContain(code);
      expect(stored.toLowerCase()).not.toContain(Buffer.from(code.replaceAll("-", "")).toString("hex"));
    }
  });

  test("of another account opens nothing", async () => {
    const { accounts, world, give } = await openAppWorld();
    await makeUser(accounts, "eve@example.com");
    const { session } = await signInAs(world, "eve@example.com", password);
    const { backupCodes } = await addApp(world, session);
    expect((await give(backupCodes[0] ?? "")).outcome).toBe("wrong");
  });

  test("dies when new ones are made", async () => {
    const { accounts, signIn, app, backupCodes, give } = await openAppWorld();
    const complete = await accounts.giveCode({ ...(await signIn()), place }, app.code());
    const token = complete.outcome === "complete" ? complete.sessionToken : "";
    const session = await accounts.authenticateSession(token);
    if (session === undefined) throw new Error("Nobody is signed in.");
    const made = await accounts.makeBackupCodes(changeBy(session, password));
    if (made.outcome !== "made") throw new Error(made.outcome);
    expect((await give(backupCodes[1] ?? "")).outcome).toBe("wrong");
    expect((await give(made.backupCodes[1] ?? "")).outcome).toBe("complete");
  });
});

describe("guesses", () => {
  test("end after ten wrong codes in all, from however many sessions and addresses at once", async () => {
    const { accounts, signIn, app } = await openAppWorld();
    const waiting: Awaited<ReturnType<typeof signIn>>[] = [];
    while (waiting.length < 40) waiting.push(await signIn());
    const wrong = app.code() === "000000" ? "000001" : "000000";
    const given = await Promise.all(
      waiting.map((each, at) =>
        accounts.giveCode(
          { ...each, place: { ...place, client: `192.0.2.${at}` } },
          at % 2 === 0 ? wrong : "7k2m-7k2m-7k2m-7k2m",
        ),
      ),
    );
    expect(given.filter(({ outcome }) => outcome === "wrong")).toHaveLength(10);
    expect(given.filter(({ outcome }) => outcome === "too_many")).toHaveLength(30);
    expect(given.at(-1)).toEqual({ outcome: "too_many", retryAfterSeconds: 900 });
  });

  test("are refused with the right code too until the window ends, and a passkey still opens", async () => {
    const opened = await openFactorWorld();
    const { accounts, signIn, give, advance, world } = opened;
    const { session } = await signIn();
    const { authenticator } = await addPasskey(world, session, "laptop");
    const { app } = await addApp(world, session, password);
    for (let guess = 0; guess < 10; guess += 1) expect((await give("000000")).outcome).toBe("wrong");
    expect((await give(app.code())).outcome).toBe("too_many");

    const waiting = await signIn();
    const answer = authenticator.get(await accounts.offerOwnPasskeys(waiting.session, party));
    expect((await accounts.givePasskey({ ...waiting, place }, { answer, party })).outcome).toBe("complete");

    advance(15 * minuteMs);
    expect((await give(app.code())).outcome).toBe("complete");
  });

  test("are not forgotten when a right code comes between", async () => {
    const { give, app, advance } = await openAppWorld();
    for (let guess = 0; guess < 9; guess += 1) await give("000000");
    expect((await give(app.code())).outcome).toBe("complete");
    advance(minuteMs);
    expect((await give("000000")).outcome).toBe("wrong");
    expect((await give(app.code())).outcome).toBe("too_many");
  });

  test("lock nobody out until the end of days when the clock is set back", async () => {
    const { give, app, advance } = await openAppWorld();
    for (let guess = 0; guess < 10; guess += 1) await give("000000");
    advance(-24 * 60 * minuteMs);
    expect((await give(app.code())).outcome).not.toBe("too_many");
  });

  test("at changes and at the set-up draw on the same count", async () => {
    const { accounts, signIn, app, give, advance } = await openAppWorld();
    const complete = await accounts.giveCode({ ...(await signIn()), place }, app.code());
    const session = await accounts.authenticateSession(complete.outcome === "complete" ? complete.sessionToken : "");
    if (session === undefined) throw new Error("Nobody is signed in.");
    for (let guess = 0; guess < 4; guess += 1) {
      expect((await accounts.removeAuthenticatorApp(changeBy(session, "000000"))).outcome).toBe("unproven");
    }
    for (let guess = 0; guess < 3; guess += 1) {
      expect((await accounts.makeBackupCodes(changeBy(session, "7k2m-7k2m-7k2m-7k2m"))).outcome).toBe("unproven");
    }
    const { setUp } = accounts.offerAuthenticatorApp(session, "Sealpush");
    for (let guess = 0; guess < 3; guess += 1) {
      const added = await accounts.addAuthenticatorApp(changeBy(session, password), { setUp, code: "000000" });
      expect(added.outcome).toBe("wrong_code");
    }
    advance(minuteMs);
    expect((await accounts.addAuthenticatorApp(changeBy(session, password), { setUp, code: app.code() })).outcome).toBe(
      "too_many",
    );
    expect((await give(app.code())).outcome).toBe("too_many");
    expect(await accounts.removeAuthenticatorApp(changeBy(session, app.code()))).toMatchObject({ outcome: "too_many" });
    // The password has a count of its own.
    expect(await accounts.removeAuthenticatorApp(changeBy(session, password))).toEqual({ outcome: "removed" });
  });
});

describe("a passkey", () => {
  test("answers one ceremony once", async () => {
    const { accounts, signIn, world } = await openFactorWorld();
    const { authenticator } = await addPasskey(world, (await signIn()).session, "laptop");
    const waiting = await signIn();
    const answer = authenticator.get(await accounts.offerOwnPasskeys(waiting.session, party));
    const given = await Promise.all(
      [1, 2, 3].map(() => accounts.givePasskey({ ...waiting, place }, { answer, party })),
    );
    expect(given.map(({ outcome }) => outcome).sort()).toEqual(["complete", "over", "over"]);

    const alone = authenticator.get(await accounts.offerAnyPasskey(party));
    const signedIn = await Promise.all([1, 2, 3].map(() => accounts.signInByPasskey({ answer: alone, party }, place)));
    expect(signedIn.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await accounts.signInByPasskey({ answer: alone, party }, place)).toBeUndefined();
  });

  test("signs in alone only when it has made sure of its user", async () => {
    const { accounts, signIn, world } = await openFactorWorld();
    const { authenticator } = await addPasskey(world, (await signIn()).session, "laptop");
    const unsure = authenticator.get(await accounts.offerAnyPasskey(party), { verifiesUser: false });
    expect(await accounts.signInByPasskey({ answer: unsure, party }, place)).toBeUndefined();
    const sure = authenticator.get(await accounts.offerAnyPasskey(party));
    const signedIn = await accounts.signInByPasskey({ answer: sure, party }, place);
    expect(await accounts.authenticateSession(signedIn?.sessionToken ?? "")).toMatchObject({ waitsForFactor: false });
    // As second factor the password stands beside it.
    const waiting = await signIn();
    const second = authenticator.get(await accounts.offerOwnPasskeys(waiting.session, party), { verifiesUser: false });
    expect((await accounts.givePasskey({ ...waiting, place }, { answer: second, party })).outcome).toBe("complete");
  });

  test.each([
    ["another site", { origin: "https://evil.example" }],
    ["a copy whose counter has fallen behind", { counter: 1 }],
  ])("is refused from %s", async (_case, use) => {
    const { accounts, signIn, world } = await openFactorWorld();
    const { authenticator } = await addPasskey(world, (await signIn()).session, "laptop");
    const first = authenticator.get(await accounts.offerAnyPasskey(party));
    expect(await accounts.signInByPasskey({ answer: first, party }, place)).toBeDefined();
    const answer = authenticator.get(await accounts.offerAnyPasskey(party), use);
    expect(await accounts.signInByPasskey({ answer, party }, place)).toBeUndefined();
  });

  test("without a counter goes on working", async () => {
    const { accounts, signIn, world } = await openFactorWorld();
    const { session } = await signIn();
    const authenticator = new TestAuthenticator();
    const made = authenticator.create(await accounts.offerPasskey(session, party), { counter: 0 });
    await accounts.addPasskey(changeBy(session), { name: "synced", answer: made, party });
    for (let use = 0; use < 2; use += 1) {
      const answer = authenticator.get(await world.accounts.offerAnyPasskey(party), { counter: 0 });
      expect(await accounts.signInByPasskey({ answer, party }, place)).toBeDefined();
    }
  });

  test("answers at no other door, in no other session and not after five minutes", async () => {
    const { accounts, signIn, world, advance } = await openFactorWorld();
    const { session } = await signIn();
    const { authenticator } = await addPasskey(world, session, "laptop");
    const [one, two] = [await signIn(), await signIn()];
    const forOne = authenticator.get(await accounts.offerOwnPasskeys(one.session, party));
    expect((await accounts.givePasskey({ ...two, place }, { answer: forOne, party })).outcome).toBe("wrong");
    expect(await accounts.signInByPasskey({ answer: forOne, party }, place)).toBeUndefined();
    const forAnybody = authenticator.get(await accounts.offerAnyPasskey(party));
    expect((await accounts.givePasskey({ ...one, place }, { answer: forAnybody, party })).outcome).toBe("wrong");
    advance(5 * minuteMs);
    expect(await accounts.signInByPasskey({ answer: forAnybody, party }, place)).toBeUndefined();
  });

  test("of somebody else is no second factor of mine", async () => {
    const { accounts, signIn, world } = await openFactorWorld();
    await addPasskey(world, (await signIn()).session, "mine");
    await makeUser(accounts, "eve@example.com");
    const eve = await signInAs(world, "eve@example.com", password);
    const { authenticator } = await addPasskey(world, eve.session, "hers");
    const waiting = await signIn();
    const answer = authenticator.get(await accounts.offerOwnPasskeys(waiting.session, party));
    expect((await accounts.givePasskey({ ...waiting, place }, { answer, party })).outcome).toBe("wrong");
  });

  test("is no way in for a disabled or an unconfirmed account, nor where nobody may sign in", async () => {
    const { accounts, db, signIn, world } = await openFactorWorld();
    const { authenticator } = await addPasskey(world, (await signIn()).session, "laptop");
    const attempt = async () => {
      const answer = authenticator.get(await accounts.offerAnyPasskey(party));
      return accounts.signInByPasskey({ answer, party }, place);
    };
    db.writer.prepare("UPDATE users SET disabled_at = 1").run();
    expect(await attempt()).toBeUndefined();
    db.writer.prepare("UPDATE users SET disabled_at = NULL, confirmed_at = NULL").run();
    expect(await attempt()).toBeUndefined();
    const closed = await openFactorWorld({ settings: { ...openSettings, loginsDisabled: true } });
    expect(await closed.accounts.signInByPasskey({ answer: "{}", party }, place)).toBeUndefined();
  });

  test("that is no passkey at all is refused, whatever was sent", async () => {
    const { accounts, signIn, world } = await openFactorWorld();
    const { session } = await signIn();
    const { authenticator } = await addPasskey(world, session, "laptop");
    const right = authenticator.get(await accounts.offerAnyPasskey(party));
    const broken = [
      ...["", "null", "[]", "{}", '"x"', "{", "x".repeat(40_000)],
      right.replace('"signature":"', '"signature":"A'),
      right.replace('"type":"public-key"', '"type":"password"'),
      right.replace(/"clientDataJSON":"[^"]*"/, '"clientDataJSON":"bm90IGpzb24"'),
      right.replace(/"authenticatorData":"[^"]*"/, '"authenticatorData":"AAAA"'),
      right.replace(/"userHandle":"[^"]*"/, '"userHandle":"c2VhbHB1c2g6OTk"'),
      right.replace(/"id":"[^"]*"/, '"id":"!!!"'),
    ];
    for (const answer of broken) {
      expect(await accounts.signInByPasskey({ answer, party }, place)).toBeUndefined();
      const added = await accounts.addPasskey(changeBy(session, password), { name: "x", answer, party });
      expect(added.outcome).toBe("bad_passkey");
    }
    expect(await accounts.signInByPasskey({ answer: right, party }, place)).toBeDefined();
  });
});
