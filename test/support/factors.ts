import { Secret } from "otpauth";
import { expect } from "vitest";
import type { Accounts, ProtectedChange, Session } from "../../src/accounts/accounts.ts";
import type { AccountsDeps } from "../../src/accounts/deps.ts";
import { totpCode, totpStep } from "../../src/accounts/factors/totp.ts";
import { minuteMs } from "../../src/base/clock.ts";
import { clientAt, makeTestAccounts, makeUser, password, startOfTests } from "./accounts.ts";
import { TestAuthenticator } from "./authenticator.ts";

/** Accounts and their clock. */
export interface FactorFixture {
  readonly accounts: Accounts;
  readonly now: () => number;
  readonly advance: (ms: number) => void;
}

export interface AuthenticatorApp {
  /** The code that the app shows now. */
  code(): string;
}

export const client = clientAt("192.0.2.7");
export const party = { id: "localhost", origin: "http://localhost", name: "Sealpush" };

/** @param shown the key as the set-up page shows it, or the URL in its QR code. */
export function appFor(shown: string, now: () => number): AuthenticatorApp {
  const base32 = shown.startsWith("otpauth:")
    ? (new URL(shown).searchParams.get("secret") ?? "")
    : shown.replace(/\s/g, "");
  const secret = Buffer.from(Secret.fromBase32(base32).bytes);
  return { code: () => totpCode(secret, totpStep(now())) };
}

/** @returns the session, complete or waiting for its second factor, and its token. */
export async function signInAs(fixture: FactorFixture, email: string, password: string) {
  const signedIn = await fixture.accounts.signIn({ email, password, client });
  const session = await fixture.accounts.authenticateSession(signedIn?.sessionToken ?? "");
  if (signedIn === undefined || session === undefined) throw new Error(`${email} could not sign in.`);
  return { session, sessionToken: signedIn.sessionToken };
}

export function changeBy(session: Session, typed = ""): ProtectedChange {
  return { session, client, proof: { typed, passkey: null } };
}

/** Sets up an authenticator app in this session, and advances the clock so that the next code is unused. */
export async function addApp(fixture: FactorFixture, session: Session, typed = "") {
  const offer = fixture.accounts.offerAuthenticatorApp(session, "Sealpush");
  const app = appFor(offer.uri, fixture.now);
  const added = await fixture.accounts.addAuthenticatorApp(changeBy(session, typed), {
    setUp: offer.setUp,
    code: app.code(),
  });
  if (added.outcome !== "added") throw new Error(`The app was not added: ${added.outcome}.`);
  fixture.advance(minuteMs);
  return { app, backupCodes: added.backupCodes ?? [] };
}

/** Adds a passkey in this session. */
export async function addPasskey(fixture: FactorFixture, session: Session, name: string, typed = "") {
  const authenticator = new TestAuthenticator();
  const answer = authenticator.create(await fixture.accounts.offerPasskey(session, party));
  const added = await fixture.accounts.addPasskey(changeBy(session, typed), { name, answer, party });
  expect(added.outcome).toBe("added");
  return { authenticator, backupCodes: (added.outcome === "added" && added.backupCodes) || [] };
}

const email = "ada@example.com";

/** A new database with one user, who has no second factor. */
export async function openFactorFixture(overrides: Partial<AccountsDeps> = {}) {
  const { accounts, access, seals, forgedRows, db, advance } = makeTestAccounts(overrides);
  await makeUser(accounts, email);
  let moved = 0;
  const fixture: FactorFixture = {
    accounts,
    now: () => startOfTests + moved,
    advance(ms) {
      moved += ms;
      advance(ms);
    },
  };
  const signIn = () => signInAs(fixture, email, password);
  const give = async (code: string) => accounts.giveCode({ ...(await signIn()), client }, code);
  return { ...fixture, fixture, db, access, seals, forgedRows, signIn, give };
}
