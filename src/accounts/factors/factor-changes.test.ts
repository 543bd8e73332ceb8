import { describe, expect, test } from "vitest";
import { makeUser, openSettings, password } from "../../../test/support/accounts.ts";
import { TestAuthenticator } from "../../../test/support/authenticator.ts";
import { readRows } from "../../../test/support/engine-database.ts";
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
import { createRecordingOutbox } from "../../../test/support/recording-outbox.ts";
import { minuteMs } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { createKeyring } from "../../crypto/keyring.ts";
import { sql } from "../../database/statement.ts";
import type { Outbox } from "../../mail/outbox.ts";
import { totpFactors } from "../store/tables.ts";

function makeOutbox(): { outbox: Outbox; notifications: () => unknown[] } {
  const { outbox, emails } = createRecordingOutbox();
  return {
    outbox,
    notifications: () =>
      emails.map(({ to, content }) =>
        content.kind === "account_notification" ? [to, content.change, content.subject] : content.kind,
      ),
  };
}

describe("setting up an app", () => {
  test("has no effect until a code confirms it", async () => {
    const { accounts, signIn, db } = await openFactorFixture();
    const { session } = await signIn();
    const { setUp } = accounts.offerAuthenticatorApp(session, "Sealpush");
    expect((await accounts.addAuthenticatorApp(changeBy(session), { setUp, code: "000000" })).outcome).toBe(
      "wrong_code",
    );
    expect(await readRows(db, "SELECT * FROM totp_factors")).toEqual([]);
    expect((await signIn()).session).toMatchObject({ waitsForFactor: false, user: { hasSecondFactor: false } });
  });

  test("keeps the secret sealed to the user's row", async () => {
    const { fixture, signIn, db } = await openFactorFixture();
    const { session } = await signIn();
    await addApp(fixture, session);
    const row = await db.read.one(sql<[], { sealed: Buffer }>("SELECT secret_sealed AS sealed FROM totp_factors"));
    const keyring = createKeyring([Buffer.alloc(32, 7)], systemRandom);
    const openFor = (id: number) =>
      keyring.open(totpFactors.seals.totpSecret, { id, ownerId: id }, row?.sealed ?? Buffer.alloc(0));
    expect(openFor(session.user.id)).toHaveLength(20);
    expect(openFor(session.user.id + 1)).toBeUndefined();
  });

  test("shows the same key again after a wrong code, and a new one after the old one has expired", async () => {
    const { accounts, signIn, advance } = await openFactorFixture();
    const { session } = await signIn();
    const first = accounts.offerAuthenticatorApp(session, "Sealpush");
    expect(accounts.offerAuthenticatorApp(session, "Sealpush", first.setUp)).toEqual(first);
    expect(accounts.offerAuthenticatorApp(session, "Sealpush").base32).not.toBe(first.base32);
    advance(30 * minuteMs);
    expect(accounts.offerAuthenticatorApp(session, "Sealpush", first.setUp).base32).not.toBe(first.base32);
  });

  test("refuses an offer that is forged, expired or of another session", async () => {
    const { accounts, signIn, now, advance } = await openFactorFixture();
    const [one, two] = [await signIn(), await signIn()];
    const offer = accounts.offerAuthenticatorApp(one.session, "Sealpush");
    const add = (session: typeof one.session, setUp: string) =>
      accounts.addAuthenticatorApp(changeBy(session), { setUp, code: appFor(offer.uri, now).code() });
    expect((await add(two.session, offer.setUp)).outcome).toBe("stale");
    for (const setUp of ["", "AAAA", "x".repeat(10_000)]) expect((await add(one.session, setUp)).outcome).toBe("stale");
    advance(30 * minuteMs);
    expect((await add(one.session, offer.setUp)).outcome).toBe("stale");
  });
});

describe("a change of an account with a factor", () => {
  test("needs the password, a code or a passkey", async () => {
    const { accounts, fixture, signIn } = await openFactorFixture();
    const { session } = await signIn();
    const { app, backupCodes } = await addApp(fixture, session);
    const offer = accounts.offerAuthenticatorApp(session, "Sealpush");
    const code = appFor(offer.uri, fixture.now).code();
    const answer = new TestAuthenticator().create(await accounts.offerPasskey(session, party));
    for (const typed of ["", "wrong", "not the password at all"]) {
      const change = changeBy(session, typed);
      expect((await accounts.addAuthenticatorApp(change, { setUp: offer.setUp, code })).outcome).toBe("proof_failed");
      expect((await accounts.addPasskey(change, { name: "x", answer, party })).outcome).toBe("proof_failed");
      expect((await accounts.removeAuthenticatorApp(change)).outcome).toBe("proof_failed");
      expect((await accounts.makeBackupCodes(change)).outcome).toBe("proof_failed");
    }
    expect(await accounts.findFactors(session.user.id)).toMatchObject({ passkeys: [], backupCodesLeft: 10 });
    const byCode = changeBy(session, app.code());
    expect((await accounts.addPasskey(byCode, { name: "x", answer, party })).outcome).toBe("added");
    expect((await accounts.makeBackupCodes(changeBy(session, backupCodes[3]))).outcome).toBe("made");
    expect((await accounts.removeAuthenticatorApp(changeBy(session, password))).outcome).toBe("removed");
  });

  test("can be proven by a passkey, once, but not by one of another user", async () => {
    const { accounts, fixture, signIn } = await openFactorFixture();
    const { session } = await signIn();
    const { authenticator } = await addPasskey(fixture, session, "laptop");
    await makeUser(accounts, "eve@example.com");
    const eve = await signInAs(fixture, "eve@example.com", password);
    const hers = await addPasskey(fixture, eve.session, "hers");

    const prove = async (by: TestAuthenticator, of = session) => {
      const answer = by.get(await accounts.offerOwnPasskeys(of, party));
      return { session, client, proof: { typed: "", passkey: { answer, party } } };
    };
    expect((await accounts.makeBackupCodes(await prove(hers.authenticator))).outcome).toBe("proof_failed");
    expect((await accounts.makeBackupCodes(await prove(authenticator, eve.session))).outcome).toBe("proof_failed");
    const right = await prove(authenticator);
    expect((await accounts.makeBackupCodes(right)).outcome).toBe("made");
    expect((await accounts.makeBackupCodes(right)).outcome).toBe("proof_failed");
  });

  test("needs the proof also when two first factors are added at once", async () => {
    const { accounts, signIn, now } = await openFactorFixture();
    const { session } = await signIn();
    const add = () => {
      const offer = accounts.offerAuthenticatorApp(session, "Sealpush");
      const code = appFor(offer.uri, now).code();
      return accounts.addAuthenticatorApp(changeBy(session), { setUp: offer.setUp, code });
    };
    const added = await Promise.all([add(), add(), add()]);
    expect(added.map(({ outcome }) => outcome).sort()).toEqual(["added", "proof_failed", "proof_failed"]);
  });

  test("ends all other sessions, including waiting ones, and keeps its own", async () => {
    const { accounts, fixture, signIn } = await openFactorFixture();
    const [own, other] = [await signIn(), await signIn()];
    const { app } = await addApp(fixture, own.session);
    expect(await accounts.authenticateSession(other.sessionToken)).toBeUndefined();
    expect(await accounts.authenticateSession(own.sessionToken)).toBeDefined();
    const waiting = await signIn();
    expect((await accounts.removeAuthenticatorApp(changeBy(own.session, app.code()))).outcome).toBe("removed");
    expect(await accounts.authenticateSession(waiting.sessionToken)).toBeUndefined();
  });

  test("is refused to a session that ended while its proof was checked", async () => {
    const { accounts, fixture, signIn } = await openFactorFixture();
    const { session, sessionToken } = await signIn();
    await addApp(fixture, session);
    await accounts.signOut(sessionToken);
    expect((await accounts.removeAuthenticatorApp(changeBy(session, password))).outcome).toBe("session_ended");
    expect((await accounts.makeBackupCodes(changeBy(session, password))).outcome).toBe("session_ended");
  });

  test("sends the owner an email that names what changed", async () => {
    const { outbox, notifications } = makeOutbox();
    const { accounts, fixture, signIn } = await openFactorFixture({ outbox });
    const { session } = await signIn();
    await addPasskey(fixture, session, "laptop");
    await addApp(fixture, session, password);
    await accounts.makeBackupCodes(changeBy(session, password));
    const [passkey] = (await accounts.findFactors(session.user.id)).passkeys;
    await accounts.removePasskey(changeBy(session, password), passkey?.id ?? 0);
    await accounts.removeAuthenticatorApp(changeBy(session, "wrong"));
    expect(notifications()).toEqual([
      ["ada@example.com", "factor_added", "laptop"],
      ["ada@example.com", "factor_added", ""],
      ["ada@example.com", "backup_codes_made", ""],
      ["ada@example.com", "factor_removed", "laptop"],
    ]);
  });
});

describe("removing", () => {
  test("the last factor also removes the backup codes", async () => {
    const { accounts, fixture, signIn, db } = await openFactorFixture();
    const { session } = await signIn();
    await addApp(fixture, session);
    await addPasskey(fixture, session, "laptop", password);
    await accounts.removeAuthenticatorApp(changeBy(session, password));
    expect((await accounts.findFactors(session.user.id)).backupCodesLeft).toBe(10);
    const [passkey] = (await accounts.findFactors(session.user.id)).passkeys;
    expect((await accounts.removePasskey(changeBy(session, password), passkey?.id ?? 0)).outcome).toBe("removed");
    expect(await readRows(db, "SELECT * FROM backup_codes")).toEqual([]);
    expect((await signIn()).session.waitsForFactor).toBe(false);
    expect((await accounts.makeBackupCodes(changeBy(session))).outcome).toBe("unknown");
  });

  test("the last one is refused if the server requires one, also by simultaneous requests", async () => {
    const { accounts, fixture, signIn } = await openFactorFixture({
      settings: { ...openSettings, requireSecondFactor: true },
    });
    const { session } = await signIn();
    await addApp(fixture, session);
    const change = changeBy(session, password);
    expect((await accounts.removeAuthenticatorApp(change)).outcome).toBe("last_required");
    await addPasskey(fixture, session, "laptop", password);
    const [passkey] = (await accounts.findFactors(session.user.id)).passkeys;
    const removed = await Promise.all([
      accounts.removeAuthenticatorApp(change),
      accounts.removePasskey(change, passkey?.id ?? 0),
    ]);
    expect(removed.map(({ outcome }) => outcome).sort()).toEqual(["last_required", "removed"]);
  });

  test("a passkey of another user is refused", async () => {
    const { accounts, fixture, signIn } = await openFactorFixture();
    await addPasskey(fixture, (await signIn()).session, "mine");
    const [mine] = (await accounts.findFactors((await signIn()).session.user.id)).passkeys;
    await makeUser(accounts, "eve@example.com");
    const eve = await signInAs(fixture, "eve@example.com", password);
    await addApp(fixture, eve.session);
    const change = changeBy(eve.session, password);
    expect((await accounts.removePasskey(change, mine?.id ?? 0)).outcome).toBe("unknown");
    expect((await accounts.removePasskey(change, 9_999)).outcome).toBe("unknown");
    expect((await accounts.findFactors((await signIn()).session.user.id)).passkeys).toHaveLength(1);
  });
});

describe("a reset by an administrator", () => {
  const by = { userId: 7, email: "root@example.com", address: "192.0.2.9" };

  test("changes nothing for a user without a factor, and ends no session", async () => {
    const { accounts, signIn } = await openFactorFixture();
    const { session, sessionToken } = await signIn();
    expect(await accounts.resetFactors(session.user.id, by)).toMatchObject({ outcome: "no_factors" });
    expect(await accounts.authenticateSession(sessionToken)).toBeDefined();
    expect(await accounts.listAdminEntries(1)).toEqual([]);
  });

  test("removes all factors, ends all sessions and resets the count of wrong codes", async () => {
    const { outbox, notifications } = makeOutbox();
    const { accounts, fixture, signIn, give, db } = await openFactorFixture({ outbox });
    const own = await signIn();
    await addApp(fixture, own.session);
    await addPasskey(fixture, own.session, "laptop", password);
    for (let guess = 0; guess < 10; guess += 1) await give("000000");
    const waiting = await signIn();
    expect(await accounts.resetFactors(own.session.user.id, by)).toMatchObject({ outcome: "done" });
    for (const { sessionToken } of [own, waiting])
      expect(await accounts.authenticateSession(sessionToken)).toBeUndefined();
    for (const table of ["totp_factors", "passkeys", "backup_codes"]) {
      expect(await readRows(db, `SELECT * FROM ${table}`)).toEqual([]);
    }
    const { session } = await signIn();
    expect(session.waitsForFactor).toBe(false);
    await addApp(fixture, session);
    expect(notifications().slice(-2)).toEqual([
      ["ada@example.com", "factor_removed", ""],
      ["ada@example.com", "factor_added", ""],
    ]);
    expect(await accounts.resetFactors(9_999, by)).toEqual({ outcome: "unknown" });
    expect(await accounts.listAdminEntries(1)).toMatchObject([
      { action: "reset_factors", subject: "ada@example.com", adminEmail: "root@example.com", address: "192.0.2.9" },
    ]);
  });
});
