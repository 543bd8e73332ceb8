import { minuteMs, secondMs } from "../../base/clock.ts";
import type { Transaction } from "../../database/database.ts";
import type { AccountsDeps } from "../deps.ts";
import type { FactorFailures, FactorStore } from "../store/factors.ts";
import { totpFactors } from "../store/tables.ts";
import { backupCodeDigest, readBackupCode } from "./backup-codes.ts";
import { matchingTotpStep, readTotpCode } from "./totp.ts";

export type FactorRefusal =
  | { readonly outcome: "wrong" }
  /** Codes are not checked for this account until then. Passkeys are. */
  | { readonly outcome: "too_many"; readonly retryAfterSeconds: number };

export type CodeAnswer = { readonly outcome: "right" } | FactorRefusal;

/** Whether a text can be a code at all. Other texts can only be a password. */
export function looksLikeCode(typed: string): boolean {
  return [readTotpCode, readBackupCode].some((read) => read(typed) !== undefined);
}

export type FactorCodes = ReturnType<typeof createFactorCodes>;

/**
 * Checks codes for a sign-in or a change. All functions require the accounts lock, so each of several simultaneous guesses
 * is counted before the next is checked.
 */
export function createFactorCodes(store: FactorStore, { keyring, access }: Pick<AccountsDeps, "keyring" | "access">) {
  async function tryGuess(
    tx: Transaction,
    userId: number,
    now: number,
    isRight: () => Promise<boolean>,
  ): Promise<CodeAnswer> {
    const stored = await store.readFailures(tx, userId);
    if (stored === undefined) return { outcome: "wrong" };
    const failures = currentFailures(stored, now);
    const retryAfterSeconds = factorWaitSeconds(failures, now);
    if (retryAfterSeconds > 0) return { outcome: "too_many", retryAfterSeconds };
    if (await isRight()) return { outcome: "right" };
    await store.writeFailures(tx, userId, { ...failures, count: failures.count + 1 });
    return { outcome: "wrong" };
  }

  async function claim(tx: Transaction, userId: number, typed: string, now: number): Promise<boolean> {
    const code = readTotpCode(typed);
    if (code !== undefined) {
      const secret = await openSecret(tx, userId);
      const step = secret === undefined ? undefined : matchingTotpStep(secret, code, now);
      return step !== undefined && (await store.claimTotpStep(tx, userId, step));
    }
    const backupCode = readBackupCode(typed);
    return (
      backupCode !== undefined &&
      (await store.claimBackupCode(tx, userId, backupCodeDigest(access, userId, backupCode)))
    );
  }

  async function openSecret(tx: Transaction, userId: number): Promise<Buffer | undefined> {
    const sealed = await store.findTotpSecret(tx, userId);
    if (sealed === undefined) return undefined;
    const secret = keyring().open(totpFactors.seals.totpSecret, { id: userId, ownerId: userId }, sealed);
    if (secret === undefined) access.reportForgedRow("totp_factors");
    return secret;
  }

  return {
    /** Counts another guess of a six-digit code with the account's codes. */
    tryGuess,
    hasApp: async (tx: Transaction, userId: number) => (await openSecret(tx, userId)) !== undefined,
    /** @param typed a code of the authenticator app or a backup code; a correct one cannot be used again. */
    tryCode: (tx: Transaction, userId: number, typed: string, now: number): Promise<CodeAnswer> =>
      tryGuess(tx, userId, now, () => claim(tx, userId, typed, now)),
  };
}

/**
 * Counts wrong codes per account, over all clients, sessions and purposes. Only somebody who has signed in or knows the
 * password can guess, so a stranger cannot lock the owner out. Passkeys cannot be guessed and are not counted.
 */
export const factorLimits = { failuresMax: 10, windowMs: 15 * minuteMs } as const;

/** @returns the failures that still count. A window that begins in the future was stored before the clock was set back. */
export function currentFailures(stored: FactorFailures, now: number): FactorFailures {
  const current = now >= stored.since && now < stored.since + factorLimits.windowMs;
  return current ? stored : { count: 0, since: now };
}

/** @returns seconds until codes are checked again; 0: they are checked now. */
export function factorWaitSeconds(failures: FactorFailures, now: number): number {
  if (failures.count < factorLimits.failuresMax) return 0;
  return Math.max(1, Math.ceil((failures.since + factorLimits.windowMs - now) / secondMs));
}
