import type { PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import type { Transaction } from "../../database/database.ts";
import type { AccountChange } from "../../mail/email.ts";
import { noOrigin, type Passkey, type Session, type User } from "../account.ts";
import { accountNotification } from "../account-emails.ts";
import type { Administrator } from "../admin/admin-actions.ts";
import type { AccountsDeps } from "../deps.ts";
import type { AdministrationStore } from "../store/administration.ts";
import type { FactorStore } from "../store/factors.ts";
import type { PasskeyStore } from "../store/passkeys.ts";
import { endSessions } from "../store/sessions.ts";
import { totpFactors } from "../store/tables.ts";
import { isName } from "../text.ts";
import { backupCodeDigest, makeBackupCodes, readBackupCode } from "./backup-codes.ts";
import type { FactorCodes } from "./factor-codes.ts";
import { challengeLifetimeMs, type PasskeyCeremonies, type RelyingParty } from "./passkeys.ts";
import type { ChangeRefusal, ProtectedChange, ProtectedChanges } from "./protected-changes.ts";
import type { PasskeyAnswer } from "./second-factor.ts";
import { matchingTotpStep, readTotpCode, type TotpOffer, type TotpSetUp } from "./totp.ts";

const passkeysMax = 20;
export const passkeyNameCharactersMax = 100;

export interface Factors {
  /** null: there is no authenticator app. */
  readonly appAddedAt: number | null;
  readonly passkeys: readonly Passkey[];
  readonly backupCodesLeft: number;
}

/** `backupCodes`: the account's first ones, shown only now; null: it already had some. */
type FactorAdded = { readonly outcome: "added"; readonly backupCodes: readonly string[] | null };

/** "last_required": this server requires a second factor, and this is the last one. */
type FactorRemoved = { readonly outcome: "removed" | "last_required" | "unknown" };

export type FactorReset =
  | { readonly outcome: "done" | "no_factors"; readonly user: User }
  | { readonly outcome: "unknown" };

interface Deps extends Pick<AccountsDeps, "db" | "clock" | "random" | "keyring" | "access" | "outbox" | "settings"> {
  readonly factors: FactorStore;
  readonly passkeys: PasskeyStore;
  readonly codes: FactorCodes;
  readonly ceremonies: PasskeyCeremonies;
  readonly totpSetUp: TotpSetUp;
  readonly change: ProtectedChanges["change"];
  readonly findUser: (userId: number) => Promise<User | undefined>;
  readonly recordAction: AdministrationStore["recordAction"];
}

function changeParts(deps: Deps) {
  const { outbox, factors, change } = deps;

  /** Ends the user's other sessions and notifies the owner. @param name of the factor; "": it has no name. */
  async function announce(
    tx: Transaction,
    made: {
      readonly asked: ProtectedChange;
      readonly change: AccountChange;
      readonly name: string;
      readonly now: number;
    },
  ): Promise<void> {
    const { asked, change, name, now } = made;
    const { session, client } = asked;
    await endSessions(tx, session.user.id, session.id);
    await outbox.put(tx, accountNotification(session.user, change, { client, at: now, subject: name }), now);
  }

  /** Replaces all backup codes. @returns the new ones, formatted for people. */
  async function putBackupCodes(tx: Transaction, userId: number): Promise<readonly string[]> {
    const made = makeBackupCodes(deps.random);
    const digests = made.map((code) => backupCodeDigest(deps.access, userId, readBackupCode(code) ?? code));
    await factors.replaceBackupCodes(tx, userId, digests);
    return made;
  }

  async function announceAdded(
    tx: Transaction,
    asked: ProtectedChange,
    name: string,
    now: number,
  ): Promise<FactorAdded> {
    const { id } = asked.session.user;
    const backupCodes = (await factors.hasBackupCodes(tx, id)) ? null : await putBackupCodes(tx, id);
    await announce(tx, { asked, change: "factor_added", name, now });
    return { outcome: "added", backupCodes };
  }

  /** @param take removes the factor. @returns its name; undefined: the user has no such factor. */
  function remove(
    asked: ProtectedChange,
    take: (tx: Transaction, userId: number) => Promise<string | undefined>,
  ): Promise<FactorRemoved | ChangeRefusal> {
    return change<FactorRemoved>(asked, async (tx, user, now) => {
      const isLast = (await factors.countFactors(tx, user.id)) === 1;
      if (isLast && deps.settings.requireSecondFactor) return { outcome: "last_required" };
      const name = await take(tx, user.id);
      if (name === undefined) return { outcome: "unknown" };
      // Backup codes only replace a factor: without one they would act as a second, weaker password.
      if (isLast) await factors.replaceBackupCodes(tx, user.id, []);
      await announce(tx, { asked, change: "factor_removed", name, now });
      return { outcome: "removed" };
    });
  }

  return { ...deps, announce, putBackupCodes, announceAdded, remove, deps };
}

type ChangeParts = ReturnType<typeof changeParts>;

function authenticatorChanges(parts: ChangeParts) {
  const { db, clock, factors, passkeys, codes, totpSetUp, change, announceAdded, remove, deps } = parts;
  return {
    async findFactors(userId: number): Promise<Factors> {
      const [found, listed] = await Promise.all([factors.findFactors(userId), passkeys.listPasskeys(userId)]);
      return { ...found, passkeys: listed };
    },

    /**
     * Stores nothing: an offer that is not confirmed has no effect.
     * @param before `setUp` of an earlier offer to show again, after a wrong code.
     */
    offerAuthenticatorApp: (session: Session, issuer: string, before = ""): TotpOffer =>
      totpSetUp.offer(session.id, { issuer, label: session.user.email }, clock.now(), before),

    /** @param confirmation `setUp` of the offer. "stale": the offer has expired or belongs to another session. */
    async addAuthenticatorApp(
      asked: ProtectedChange,
      confirmation: { readonly setUp: string; readonly code: string },
    ): Promise<FactorAdded | ChangeRefusal | { readonly outcome: "wrong_code" | "stale" }> {
      const { session } = asked;
      const now = clock.now();
      const secret = totpSetUp.open(confirmation.setUp, session.id, now);
      if (secret === undefined) return { outcome: "stale" };
      const code = readTotpCode(confirmation.code);
      const step = code === undefined ? undefined : matchingTotpStep(secret, code, now);
      const guess = await db.writeSerialized("accounts", (tx) =>
        codes.tryGuess(tx, session.user.id, now, async () => step !== undefined),
      );
      if (guess.outcome === "too_many") return guess;
      if (step === undefined) return { outcome: "wrong_code" };
      return change(asked, async (tx, { id }, at) => {
        const sealed = deps.keyring().seal(totpFactors.seals.totpSecret, { id, ownerId: id }, secret);
        await factors.putTotp(tx, id, { secretSealed: sealed, step, now: at });
        return announceAdded(tx, asked, "", at);
      });
    },

    removeAuthenticatorApp: (asked: ProtectedChange) =>
      remove(asked, async (tx, userId) => {
        if (!(await codes.hasApp(tx, userId))) return undefined;
        await factors.removeTotp(tx, userId);
        return "";
      }),
  };
}

function passkeyChanges({ passkeys, ceremonies, change, announceAdded, remove }: ChangeParts) {
  return {
    offerPasskey: (session: Session, party: RelyingParty): Promise<PublicKeyCredentialCreationOptionsJSON> =>
      ceremonies.offerRegistration(session.user, { purpose: "add", sessionId: session.id }, party),

    async addPasskey(
      asked: ProtectedChange,
      { name, answer, party }: PasskeyAnswer & { readonly name: string },
    ): Promise<FactorAdded | ChangeRefusal | { readonly outcome: "bad_name" | "bad_passkey" | "too_many_passkeys" }> {
      const label = name.trim();
      if (!isName(label, passkeyNameCharactersMax)) return { outcome: "bad_name" };
      const use = { purpose: "add", sessionId: asked.session.id } as const;
      const verified = await ceremonies.verifyRegistration(answer, use, party);
      if (verified === undefined) return { outcome: "bad_passkey" };
      return change<FactorAdded | { readonly outcome: "bad_passkey" | "too_many_passkeys" }>(
        asked,
        async (tx, user, now) => {
          if ((await passkeys.countPasskeys(tx, user.id)) >= passkeysMax) return { outcome: "too_many_passkeys" };
          const isNew =
            (await passkeys.claimChallenge(tx, verified.challengeDigest, now, now - challengeLifetimeMs)) &&
            (await passkeys.addPasskey(tx, { ...verified.credential, userId: user.id, name: label, now }));
          return isNew ? announceAdded(tx, asked, label, now) : { outcome: "bad_passkey" };
        },
      );
    },

    removePasskey: (asked: ProtectedChange, passkeyId: number) =>
      remove(asked, (tx, userId) => passkeys.removePasskey(tx, userId, passkeyId)),
  };
}

function backupCodeChanges(parts: ChangeParts) {
  const { db, clock, outbox, factors, passkeys, change, announce, putBackupCodes, deps } = parts;
  return {
    /** Invalidates the old ones. "unknown": the account has no factor that they could replace. */
    makeBackupCodes: (
      asked: ProtectedChange,
    ): Promise<
      | { readonly outcome: "made"; readonly backupCodes: readonly string[] }
      | ChangeRefusal
      | { readonly outcome: "unknown" }
    > =>
      change(asked, async (tx, user, now) => {
        if ((await factors.countFactors(tx, user.id)) === 0) return { outcome: "unknown" } as const;
        const backupCodes = await putBackupCodes(tx, user.id);
        await announce(tx, { asked, change: "backup_codes_made", name: "", now });
        return { outcome: "made", backupCodes } as const;
      }),

    /** For administrators: removes all factors and ends all sessions. "no_factors": nothing was changed. */
    async resetFactors(userId: number, by: Administrator): Promise<FactorReset> {
      const user = await deps.findUser(userId);
      if (user === undefined) return { outcome: "unknown" };
      return db.writeSerialized("accounts", async (tx): Promise<FactorReset> => {
        const now = clock.now();
        if ((await factors.countFactors(tx, userId)) === 0) return { outcome: "no_factors", user };
        await factors.removeTotp(tx, userId);
        await passkeys.removePasskeys(tx, userId);
        await factors.forgetFactors(tx, userId);
        await factors.replaceBackupCodes(tx, userId, []);
        await factors.writeFailures(tx, userId, { count: 0, since: now });
        await endSessions(tx, userId, null);
        await outbox.put(tx, accountNotification(user, "factor_removed", { client: noOrigin, at: now }), now);
        await deps.recordAction(tx, { by, action: "reset_factors", subject: user.email, now });
        return { outcome: "done", user };
      });
    },
  };
}

/** Each change ends all other sessions of the user and notifies the owner by email, in the same transaction. */
export function createFactorChanges(deps: Deps) {
  const shared = changeParts(deps);
  return { ...authenticatorChanges(shared), ...passkeyChanges(shared), ...backupCodeChanges(shared) };
}
