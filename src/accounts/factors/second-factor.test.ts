import { describe, expect, test } from "vitest";
import { changeUsers } from "../../../test/support/access-rows.ts";
import { makeUser, password } from "../../../test/support/accounts.ts";
import {
  addApp,
  addPasskey,
  appFor,
  changeBy,
  client,
  openFactorFixture,
  party,
  signInAs,
} from "../../../test/support/factors.ts";
import { minuteMs } from "../../base/clock.ts";
import { sql } from "../../database/statement.ts";
import type { AccountsDeps } from "../deps.ts";
import { createFactorStore } from "../store/factors.ts";

/** An account with an app. */
async function openAppFixture(overrides: Partial<AccountsDeps> = {}) {
  const opened = await openFactorFixture(overrides);
  const { session } = await opened.signIn();
  return { ...opened, ...(await addApp(opened.fixture, session)) };
}

describe("a code of the app", () => {
  test("completes the sign-in with a new token and ends the waiting session", async () => {
    const { accounts, signIn, app } = await openAppFixture();
    const waiting = await signIn();
    expect(waiting.session.waitsForFactor).toBe(true);
    const given = await accounts.giveCode({ ...waiting, client }, app.code());
    if (given.outcome !== "complete") throw new Error(given.outcome);
    expect(given.sessionToken).not.toBe(waiting.sessionToken);
    expect(await accounts.authenticateSession(waiting.sessionToken)).toBeUndefined();
    expect(await accounts.authenticateSession(given.sessionToken)).toMatchObject({ waitsForFactor: false });
  });

  test("is missing from a waiting session, so that no change inside a transaction takes it for a complete one", async () => {
    const opened = await openFactorFixture();
    const { db, access, signIn } = opened;
    const { session } = await signIn();
    await addApp(opened.fixture, session);
    const waiting = await signIn();
    const factors = createFactorStore(db, access);
    const areComplete = [session, waiting.session].map(({ id, user }) =>
      db.writeSerialized("accounts", (tx) => factors.isSessionComplete(tx, id, user.id)),
    );
    expect(await Promise.all(areComplete)).toEqual([true, false]);
  });

  test("completes only one of many simultaneous sign-ins", async () => {
    const { accounts, signIn, app } = await openAppFixture();
    const waiting = await Promise.all(Array.from({ length: 8 }, signIn));
    const code = app.code();
    const given = await Promise.all(waiting.map((each) => accounts.giveCode({ ...each, client }, code)));
    expect(given.filter(({ outcome }) => outcome === "complete")).toHaveLength(1);
  });

  test("signs in only one of several copies of a waiting session, also with different codes", async () => {
    const { accounts, signIn, app, backupCodes } = await openAppFixture();
    const waiting = await signIn();
    const codes = [app.code(), ...backupCodes.slice(0, 3)];
    const given = await Promise.all(codes.map((code) => accounts.giveCode({ ...waiting, client }, code)));
    expect(given.map(({ outcome }) => outcome).sort()).toEqual([
      "complete",
      "session_ended",
      "session_ended",
      "session_ended",
    ]);
    // The late requests consumed nothing.
    const usedAppCode = given[0]?.outcome === "complete";
    const { backupCodesLeft } = await accounts.findFactors(waiting.session.user.id);
    expect(backupCodesLeft).toBe(usedAppCode ? 10 : 9);
  });

  test("cannot be used again, and neither can one of an earlier step after it", async () => {
    const { give, app, advance } = await openAppFixture();
    const earlier = app.code();
    advance(30_000);
    const code = app.code();
    expect((await give(code)).outcome).toBe("complete");
    expect((await give(code)).outcome).toBe("wrong");
    expect((await give(earlier)).outcome).toBe("wrong");
  });

  test("cannot sign in after it has confirmed the app", async () => {
    const { accounts, signIn, now, give } = await openFactorFixture();
    const { session } = await signIn();
    const offer = accounts.offerAuthenticatorApp(session, "Sealpush");
    const code = appFor(offer.uri, now).code();
    await accounts.addAuthenticatorApp(changeBy(session), { setUp: offer.setUp, code });
    expect((await give(code)).outcome).toBe("wrong");
  });

  test("is refused when the sign-in has waited for ten minutes", async () => {
    const { accounts, signIn, app, advance } = await openAppFixture();
    const waiting = await signIn();
    advance(10 * minuteMs);
    expect((await accounts.giveCode({ ...waiting, client }, app.code())).outcome).toBe("session_ended");
  });

  test("does not sign a disabled account in", async () => {
    const { accounts, db, access, signIn, app } = await openAppFixture();
    const waiting = await signIn();
    await changeUsers({ db, access }, { disabledAt: 1 });
    expect((await accounts.giveCode({ ...waiting, client }, app.code())).outcome).toBe("session_ended");
  });
});

describe("a backup code", () => {
  test("works once, also with simultaneous requests", async () => {
    const { accounts, signIn, backupCodes } = await openAppFixture();
    expect(backupCodes).toHaveLength(10);
    const code = backupCodes[0] ?? "";
    const waiting = await Promise.all(Array.from({ length: 5 }, signIn));
    const given = await Promise.all(waiting.map((each) => accounts.giveCode({ ...each, client }, code)));
    expect(given.filter(({ outcome }) => outcome === "complete")).toHaveLength(1);
    const later = await signIn();
    expect((await accounts.giveCode({ ...later, client }, code)).outcome).toBe("wrong");
    expect((await accounts.findFactors(later.session.user.id)).backupCodesLeft).toBe(9);
  });

  test("is stored only as a digest", async () => {
    const { db, backupCodes } = await openAppFixture();
    const digests = await db.read.all(sql<[], { digest: Buffer }>("SELECT digest FROM backup_codes"));
    expect(digests).toHaveLength(backupCodes.length);
    const stored = digests.map((row) => `${row.digest.toString("hex")} ${row.digest.toString("latin1")}`).join();
    for (const code of backupCodes) {
      expect(stored).not.toContain(code);
      expect(stored.toLowerCase()).not.toContain(Buffer.from(code.replaceAll("-", "")).toString("hex"));
    }
  });

  test("is refused for another account", async () => {
    const { accounts, fixture, give } = await openAppFixture();
    await makeUser(accounts, "eve@example.com");
    const { session } = await signInAs(fixture, "eve@example.com", password);
    const { backupCodes } = await addApp(fixture, session);
    expect((await give(backupCodes[0] ?? "")).outcome).toBe("wrong");
  });

  test("is invalid once new ones are made", async () => {
    const { accounts, signIn, app, backupCodes, give } = await openAppFixture();
    const complete = await accounts.giveCode({ ...(await signIn()), client }, app.code());
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
  test("are stopped after ten wrong codes, over all sessions and addresses", async () => {
    const { accounts, signIn, app } = await openAppFixture();
    const waiting: Awaited<ReturnType<typeof signIn>>[] = [];
    while (waiting.length < 40) waiting.push(await signIn());
    const wrong = app.code() === "000000" ? "000001" : "000000";
    const given = await Promise.all(
      waiting.map((each, at) =>
        accounts.giveCode(
          { ...each, client: { ...client, throttleKey: `192.0.2.${at}` } },
          at % 2 === 0 ? wrong : "7k2m-7k2m-7k2m-7k2m",
        ),
      ),
    );
    expect(given.filter(({ outcome }) => outcome === "wrong")).toHaveLength(10);
    expect(given.filter(({ outcome }) => outcome === "too_many")).toHaveLength(30);
    expect(given.at(-1)).toEqual({ outcome: "too_many", retryAfterSeconds: 900 });
  });

  test("block the right code as well until the window ends, but not a passkey", async () => {
    const opened = await openFactorFixture();
    const { accounts, signIn, give, advance, fixture } = opened;
    const { session } = await signIn();
    const { authenticator } = await addPasskey(fixture, session, "laptop");
    const { app } = await addApp(fixture, session, password);
    for (let guess = 0; guess < 10; guess += 1) expect((await give("000000")).outcome).toBe("wrong");
    expect((await give(app.code())).outcome).toBe("too_many");

    const waiting = await signIn();
    const answer = authenticator.get(await accounts.offerOwnPasskeys(waiting.session, party));
    expect((await accounts.givePasskey({ ...waiting, client }, { answer, party })).outcome).toBe("complete");

    advance(15 * minuteMs);
    expect((await give(app.code())).outcome).toBe("complete");
  });

  test("are not reset by a right code", async () => {
    const { give, app, advance } = await openAppFixture();
    for (let guess = 0; guess < 9; guess += 1) await give("000000");
    expect((await give(app.code())).outcome).toBe("complete");
    advance(minuteMs);
    expect((await give("000000")).outcome).toBe("wrong");
    expect((await give(app.code())).outcome).toBe("too_many");
  });

  test("do not lock the owner out for long when the clock is set back", async () => {
    const { give, app, advance } = await openAppFixture();
    for (let guess = 0; guess < 10; guess += 1) await give("000000");
    advance(-24 * 60 * minuteMs);
    expect((await give(app.code())).outcome).not.toBe("too_many");
  });

  test("are counted together for changes and the set-up", async () => {
    const { accounts, signIn, app, give, advance } = await openAppFixture();
    const complete = await accounts.giveCode({ ...(await signIn()), client }, app.code());
    const session = await accounts.authenticateSession(complete.outcome === "complete" ? complete.sessionToken : "");
    if (session === undefined) throw new Error("Nobody is signed in.");
    for (let guess = 0; guess < 4; guess += 1) {
      expect((await accounts.removeAuthenticatorApp(changeBy(session, "000000"))).outcome).toBe("proof_failed");
    }
    for (let guess = 0; guess < 3; guess += 1) {
      expect((await accounts.makeBackupCodes(changeBy(session, "7k2m-7k2m-7k2m-7k2m"))).outcome).toBe("proof_failed");
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
    // The password has its own counter.
    expect(await accounts.removeAuthenticatorApp(changeBy(session, password))).toEqual({ outcome: "removed" });
  });
});
