import type { Keyring } from "../crypto/keyring.ts";
import { backupCodeDigest, readBackupCode } from "./backup-codes.ts";
import { currentFailures, factorWaitSeconds } from "./factor-throttle.ts";
import { type FactorUnit, totpContext } from "./store/factors.ts";
import { matchingTotpStep, readTotpCode } from "./totp.ts";

export type FactorRefusal =
  | { readonly outcome: "wrong" }
  /** Codes are not tried for this account until then; passkeys are. */
  | { readonly outcome: "too_many"; readonly retryAfterSeconds: number };

export type CodeAnswer = { readonly outcome: "right" } | FactorRefusal;

/**
 * Codes of people who are about to sign in or to change something. Everything runs inside a unit of `db.write`, and
 * units run one after the other: however many guesses arrive together, each finds the others counted.
 */
export interface FactorCodes {
  /** @param typed a code of the authenticator app or a backup code; a right one is used up. */
  tryCode(userId: number, typed: string, now: number): CodeAnswer;
  /** Any other guess at six digits, on the same account's count. */
  tryGuess(userId: number, now: number, isRight: () => boolean): CodeAnswer;
}

/** Whether a text can be a code at all: what cannot is a password. */
export function looksLikeCode(typed: string): boolean {
  return readTotpCode(typed) !== undefined || readBackupCode(typed) !== undefined;
}

export function createFactorCodes(unit: FactorUnit, keyring: () => Keyring): FactorCodes {
  function tryGuess(userId: number, now: number, isRight: () => boolean): CodeAnswer {
    const failures = currentFailures(unit.readFailures(userId), now);
    const retryAfterSeconds = factorWaitSeconds(failures, now);
    if (retryAfterSeconds > 0) return { outcome: "too_many", retryAfterSeconds };
    if (isRight()) return { outcome: "right" };
    unit.writeFailures(userId, { ...failures, count: failures.count + 1 });
    return { outcome: "wrong" };
  }

  function claim(userId: number, typed: string, now: number): boolean {
    const code = readTotpCode(typed);
    if (code !== undefined) {
      const secret = openSecret(userId);
      const step = secret === undefined ? undefined : matchingTotpStep(secret, code, now);
      return step !== undefined && unit.claimTotpStep(userId, step);
    }
    const backupCode = readBackupCode(typed);
    return backupCode !== undefined && unit.claimBackupCode(userId, backupCodeDigest(backupCode), now);
  }

  function openSecret(userId: number): Buffer | undefined {
    const sealed = unit.findTotpSecret(userId);
    if (sealed === undefined) return undefined;
    const secret = keyring().open(totpContext(userId), sealed);
    if (secret === undefined) throw new Error("The secret of an authenticator app does not open.");
    return secret;
  }

  return { tryGuess, tryCode: (userId, typed, now) => tryGuess(userId, now, () => claim(userId, typed, now)) };
}
