import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import type { Database, Transaction } from "../../database/database.ts";
import type { NoticeName } from "../../mail/email.ts";
import type { Outbox } from "../../mail/outbox.ts";
import type { ClientContext, Passkey, Session, User } from "../account.ts";
import type { Administrator, RecordInTransaction } from "../admin/administration.ts";
import type { AccountsDeps } from "../deps.ts";
import { isFreshSession } from "../sign-in/passwords.ts";
import { type FactorStore, type FactorUnit, totpContext } from "../store/factors.ts";
import type { PasskeyStore, PasskeyUnit } from "../store/passkeys.ts";
import { endSessions } from "../store/sessions.ts";
import { hasCharacters } from "../text.ts";
import { backupCodeDigest, makeBackupCodes, readBackupCode } from "./backup-codes.ts";
import type { FactorCodes, FactorRefusal } from "./factor-codes.ts";
import { challengeLifetimeMs, type PasskeyCeremonies, type RelyingParty } from "./passkeys.ts";
import type { PasskeyAnswer, Proof, ProveAgain } from "./second-factor.ts";
import { matchingTotpStep, readTotpCode, type TotpOffer, type TotpSetUp } from "./totp.ts";

const passkeysMax = 20;
export const passkeyNameCharactersMax = 100;

export interface Factors {
  /** Since when an authenticator app stands; null: there is none. */
  readonly appAddedAt: number | null;
  readonly passkeys: readonly Passkey[];
  readonly backupCodesLeft: number;
}

/** Who changes the factors, from where, and what shows that it is the owner and not somebody at an open screen. */
export interface FactorChange {
  readonly session: Session;
  readonly client: ClientContext;
  /** See `proofNeeded`. */
  readonly proof: Proof;
}

/**
 * Before the first factor, a session that began lately says enough. Later the password has to come again: a passkey that
 * somebody plants at a screen left open would let him in for good. As soon as a factor stands, any of them, or the
 * password, is needed each time. "sign_in_again": a session that began earlier, of an account without password.
 */
type ProofNeeded = "nothing" | "password" | "sign_in_again" | "password_or_factor";

/** What every change may end in. "unproven": the proof is missing or wrong. "over": the session has ended meanwhile. */
export type ChangeRefusal = UnitRefusal | Extract<FactorRefusal, { readonly outcome: "too_many" }>;

/** `backupCodes`: the first ones of the account, shown this once; null: it has some. */
export type FactorAdded = { readonly outcome: "added"; readonly backupCodes: readonly string[] | null };

/** "last_required": this server asks for a second factor, and this is the last. */
export type FactorRemoved = { readonly outcome: "removed" | "last_required" | "unknown" };

/** Each change ends all other sessions of the user and is told by mail, in the same transaction. */
export interface FactorChanges {
  findFactors(userId: number): Promise<Factors>;
  /** What a change of the factors asks for in this session. */
  proofNeeded(session: Session): Promise<ProofNeeded>;
  /**
   * Nothing is stored by it: what was only shown protects nothing.
   * @param before `setUp` of the offer to show again, after a slip.
   */
  offerAuthenticatorApp(session: Session, issuer: string, before?: string): TotpOffer;
  /** @param setUp of the offer. "stale": the offer has run out, or was another session's. */
  addAuthenticatorApp(
    change: FactorChange,
    confirmation: { readonly setUp: string; readonly code: string },
  ): Promise<FactorAdded | ChangeRefusal | { readonly outcome: "wrong_code" | "stale" }>;
  removeAuthenticatorApp(change: FactorChange): Promise<FactorRemoved | ChangeRefusal>;
  offerPasskey(session: Session, party: RelyingParty): Promise<PublicKeyCredentialCreationOptionsJSON>;
  addPasskey(
    change: FactorChange,
    added: PasskeyAnswer & { readonly name: string },
  ): Promise<FactorAdded | ChangeRefusal | { readonly outcome: "bad_name" | "bad_passkey" | "too_many_passkeys" }>;
  removePasskey(change: FactorChange, passkeyId: number): Promise<FactorRemoved | ChangeRefusal>;
  /** The old ones die. "unknown": there is no factor that they could stand in for. */
  makeBackupCodes(
    change: FactorChange,
  ): Promise<
    | { readonly outcome: "made"; readonly backupCodes: readonly string[] }
    | ChangeRefusal
    | { readonly outcome: "unknown" }
  >;
  /** For administrators: removes every factor and ends every session. "no_factors": nothing was changed. */
  resetFactors(userId: number, by: Administrator): Promise<FactorReset>;
}

interface Deps {
  readonly db: Database;
  readonly factors: FactorStore;
  readonly passkeys: PasskeyStore;
  readonly units: FactorUnits;
  readonly codes: FactorCodes;
  readonly ceremonies: PasskeyCeremonies;
  readonly setUps: TotpSetUp;
  readonly prove: ProveAgain;
  readonly settings: AccountsDeps["settings"];
  readonly clock: Clock;
}

export function createFactorChanges(deps: Deps): FactorChanges {
  const { factors, passkeys, units, ceremonies, setUps, clock } = deps;
  return {
    async findFactors(userId) {
      const [found, listed] = await Promise.all([factors.findFactors(userId), passkeys.listPasskeys(userId)]);
      return { ...found, passkeys: listed };
    },

    proofNeeded: (session) => proofNeeded(deps, session),

    offerAuthenticatorApp: (session, issuer, before = "") =>
      setUps.offer(session.id, { issuer, label: session.user.email }, clock.now(), before),

    addAuthenticatorApp: (change, confirmation) => addAuthenticatorApp(deps, change, confirmation),

    removeAuthenticatorApp: (change) =>
      remove(deps, change, async (tx, userId) => ((await factors.removeTotp(tx, userId)) ? "" : undefined)),

    offerPasskey: (session, party) =>
      ceremonies.offerRegistration(session.user, { purpose: "add", sessionId: session.id }, party),

    addPasskey: (change, added) => addPasskey(deps, change, added),

    removePasskey: (change, passkeyId) =>
      remove(deps, change, (tx, userId) => passkeys.removePasskey(tx, userId, passkeyId)),

    makeBackupCodes: (change) =>
      proven(deps, change, (isProven) =>
        units.change(change, isProven, async (tx, user, now) => {
          if ((await factors.countFactors(tx, user.id)) === 0) return { outcome: "unknown" } as const;
          const backupCodes = await units.putBackupCodes(tx, user.id);
          await units.announce(tx, change, "backup_codes_made", "", now);
          return { outcome: "made", backupCodes } as const;
        }),
      ),

    resetFactors: (userId, by) => units.reset(userId, by),
  };
}

async function proofNeeded({ factors, passkeys, clock }: Deps, session: Session): Promise<ProofNeeded> {
  const { id, hasPassword } = session.user;
  const [{ appAddedAt }, listed] = await Promise.all([factors.findFactors(id), passkeys.listPasskeys(id)]);
  if (appAddedAt !== null || listed.length > 0) return "password_or_factor";
  if (isFreshSession(session, clock.now())) return "nothing";
  return hasPassword ? "password" : "sign_in_again";
}

/** Asks for the proof, then changes. Whether a factor has come to stand meanwhile is decided again inside the transaction. */
async function proven<T>(
  deps: Deps,
  { session, proof, client }: FactorChange,
  change: (isProven: boolean) => Promise<T>,
): Promise<T | ChangeRefusal> {
  if ((await proofNeeded(deps, session)) === "nothing") return change(false);
  const answer = await deps.prove(session, proof, client);
  if (answer.outcome === "too_many") return answer;
  return answer.outcome === "right" ? change(true) : { outcome: "unproven" };
}

async function addAuthenticatorApp(
  deps: Deps,
  change: FactorChange,
  { setUp, code }: { readonly setUp: string; readonly code: string },
): ReturnType<FactorChanges["addAuthenticatorApp"]> {
  const { session } = change;
  const now = deps.clock.now();
  const secret = deps.setUps.open(setUp, session.id, now);
  if (secret === undefined) return { outcome: "stale" };
  const typed = readTotpCode(code);
  const step = typed === undefined ? undefined : matchingTotpStep(secret, typed, now);
  const guess = await deps.db.writeSerialized("accounts", (tx) =>
    deps.codes.tryGuess(tx, session.user.id, now, async () => step !== undefined),
  );
  if (guess.outcome === "too_many") return guess;
  if (step === undefined) return { outcome: "wrong_code" };
  return proven(deps, change, (isProven) =>
    deps.units.change(change, isProven, async (tx, user, at) => {
      await deps.units.putTotp(tx, user.id, secret, step, at);
      return added(tx, deps, change, "", at);
    }),
  );
}

async function addPasskey(
  deps: Deps,
  change: FactorChange,
  { name, answer, party }: PasskeyAnswer & { readonly name: string },
): ReturnType<FactorChanges["addPasskey"]> {
  const label = name.trim();
  if (!hasCharacters(label, 1, passkeyNameCharactersMax) || /\p{Cc}/u.test(label)) return { outcome: "bad_name" };
  const use = { purpose: "add", sessionId: change.session.id } as const;
  const verified = await deps.ceremonies.verifyRegistration(answer, use, party);
  if (verified === undefined) return { outcome: "bad_passkey" };
  const { passkeys } = deps;
  return proven(deps, change, (isProven) =>
    deps.units.change<FactorAdded | { readonly outcome: "bad_passkey" | "too_many_passkeys" }>(
      change,
      isProven,
      async (tx, user, now) => {
        if ((await passkeys.countPasskeys(tx, user.id)) >= passkeysMax) return { outcome: "too_many_passkeys" };
        const isNew =
          (await passkeys.claimChallenge(tx, verified.challengeDigest, now, now - challengeLifetimeMs)) &&
          (await passkeys.addPasskey(tx, { ...verified.credential, userId: user.id, name: label, now }));
        return isNew ? added(tx, deps, change, label, now) : { outcome: "bad_passkey" };
      },
    ),
  );
}

/** @param name of what was added; "": it has none. */
async function added(
  tx: Transaction,
  { units }: Deps,
  change: FactorChange,
  name: string,
  now: number,
): Promise<FactorAdded> {
  const backupCodes = await units.putFirstBackupCodes(tx, change.session.user.id);
  await units.announce(tx, change, "factor_added", name, now);
  return { outcome: "added", backupCodes };
}

/** @param take removes the factor. @returns its name; undefined: the user has no such factor. */
function remove(
  deps: Deps,
  change: FactorChange,
  take: (tx: Transaction, userId: number) => Promise<string | undefined>,
): Promise<FactorRemoved | ChangeRefusal> {
  const { factors } = deps;
  return proven(deps, change, (isProven) =>
    deps.units.change<FactorRemoved>(change, isProven, async (tx, user, now) => {
      const isLast = (await factors.countFactors(tx, user.id)) === 1;
      if (isLast && deps.settings.requireSecondFactor) return { outcome: "last_required" };
      const name = await take(tx, user.id);
      if (name === undefined) return { outcome: "unknown" };
      // They stand in for a factor: without one they would be a weaker password of their own.
      if (isLast) await factors.replaceBackupCodes(tx, user.id, []);
      await deps.units.announce(tx, change, "factor_removed", name, now);
      return { outcome: "removed" };
    }),
  );
}

/** "unproven": a factor stands, and nothing has shown that it is its owner who asks. "over": the session has ended. */
export type UnitRefusal = { readonly outcome: "unproven" | "over" };

export type FactorReset =
  | { readonly outcome: "done" | "no_factors"; readonly user: User }
  | { readonly outcome: "unknown" };

/** Who changes factors, and from where. */
interface Asking {
  readonly session: Session;
  readonly client: ClientContext;
}

/** What every change of factors consists of: in the transaction that `change` begins. */
export interface FactorUnits {
  /** Runs `work` in one transaction of the accounts' turn, provided that the session stands and has proven what it had to. */
  change<T>(
    asking: Asking,
    isProven: boolean,
    work: (tx: Transaction, user: User, now: number) => Promise<T>,
  ): Promise<T | UnitRefusal>;
  putTotp(tx: Transaction, userId: number, secret: Uint8Array, step: number, now: number): Promise<void>;
  /** In place of all before. @returns them, as people read them. */
  putBackupCodes(tx: Transaction, userId: number): Promise<readonly string[]>;
  /** The same for an account that has never had any; null: it has had some. */
  putFirstBackupCodes(tx: Transaction, userId: number): Promise<readonly string[] | null>;
  /** The owner is told by mail, and whoever else is signed in no longer is. */
  announce(tx: Transaction, asking: Asking, notice: NoticeName, subject: string, now: number): Promise<void>;
  /** Removes every factor, ends every session, and leaves a line in the administrators' trail. */
  reset(userId: number, by: Administrator): Promise<FactorReset>;
}

/** An administrator's change comes from no place that the account's owner could know. */
const nowhere = { address: "", userAgent: "" };

export function createFactorUnits(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly keyring: () => Keyring;
  readonly outbox: Outbox;
  readonly factors: FactorUnit;
  readonly passkeys: PasskeyUnit;
  readonly findUser: (userId: number) => Promise<User | undefined>;
  readonly recordInTransaction: RecordInTransaction;
}): FactorUnits {
  const { db, clock, random, keyring, outbox, factors, passkeys } = deps;

  function put(
    tx: Transaction,
    user: User,
    notice: NoticeName,
    subject: string,
    client: Pick<ClientContext, "address" | "userAgent">,
    now: number,
  ): Promise<void> {
    const { address, userAgent } = client;
    const content = { kind: "notice", notice, subject, at: now, address, userAgent } as const;
    return outbox.put(tx, { to: user.email, language: user.language, content }, now);
  }

  async function putBackupCodes(tx: Transaction, userId: number): Promise<readonly string[]> {
    const codes = makeBackupCodes(random);
    const digests = codes.map((code) => backupCodeDigest(readBackupCode(code) ?? code));
    await factors.replaceBackupCodes(tx, userId, digests);
    return codes;
  }

  return {
    change: ({ session }, isProven, work) =>
      db.writeSerialized("accounts", async (tx) => {
        const { user } = session;
        if (!(await factors.sessionStands(tx, session.id, user.id))) return { outcome: "over" };
        if (!isProven && (await factors.countFactors(tx, user.id)) > 0) return { outcome: "unproven" };
        return work(tx, user, clock.now());
      }),

    putTotp: (tx, userId, secret, step, now) =>
      factors.putTotp(tx, userId, keyring().seal(totpContext(userId), secret), step, now),

    putBackupCodes,

    putFirstBackupCodes: async (tx, userId) =>
      (await factors.hasBackupCodes(tx, userId)) ? null : putBackupCodes(tx, userId),

    async announce(tx, { session, client }, notice, subject, now) {
      await endSessions(tx, session.user.id, session.id);
      await put(tx, session.user, notice, subject, client, now);
    },

    async reset(userId, by) {
      const user = await deps.findUser(userId);
      if (user === undefined) return { outcome: "unknown" };
      return db.writeSerialized("accounts", async (tx) => {
        const now = clock.now();
        if ((await factors.countFactors(tx, userId)) === 0) return { outcome: "no_factors", user };
        await factors.removeTotp(tx, userId);
        await passkeys.removePasskeys(tx, userId);
        await factors.replaceBackupCodes(tx, userId, []);
        await factors.writeFailures(tx, userId, { count: 0, since: now });
        await endSessions(tx, userId, null);
        await put(tx, user, "factor_removed", "", nowhere, now);
        await deps.recordInTransaction(tx, "reset_factors", user.email, by, now);
        return { outcome: "done", user };
      });
    },
  };
}
