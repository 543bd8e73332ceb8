import { spellingsOf } from "../../crypto/passphrase.ts";
import type { PushKey } from "../../crypto/push-key.ts";
import type { Refused } from "../../limits/limits.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import { openPushKey } from "../seals.ts";
import { rowSecrets, type SealedPush } from "../store/tables.ts";

export type Unlocked =
  | {
      readonly outcome: "unlocked";
      readonly key: PushKey;
      readonly rowSecret: Buffer;
      readonly passphraseHash: Buffer | undefined;
    }
  | { readonly outcome: "wrong_passphrase" }
  | { readonly outcome: "too_many_attempts"; readonly retryAfterSeconds: number };

interface Unlocking {
  readonly urlToken: string;
  readonly passphrase: string;
  readonly now: number;
  readonly actor: Actor;
  /** Opens the row secret; default: that of the push's own row. */
  readonly openSecret?: ((sealed: Buffer) => Buffer | undefined) | undefined;
}

/**
 * Derives the push key with the link and, where the push has one, the passphrase. An attempt stays charged unless the
 * passphrase is correct or could not be tried. A wrong passphrase is audited. Owners are throttled like viewers.
 */
export function unlock(
  deps: PushDeps,
  { row, rowSecretSealed }: SealedPush,
  { urlToken, passphrase, now, actor, openSecret }: Unlocking,
): Unlocked | Promise<Unlocked> {
  const { passphraseSalt } = row;
  const openWith = (passphraseHash: Buffer | undefined): Unlocked => {
    if (rowSecretSealed === null) throw new Error(`The live push ${row.id} lacks its row secret.`);
    const rowSecret =
      openSecret === undefined
        ? deps.vault.keyring.open(rowSecrets.seals.rowSecret, row, rowSecretSealed)
        : openSecret(rowSecretSealed);
    const opened = openPushKey(row, rowSecret, { urlToken, passphraseHash });
    switch (opened.outcome) {
      case "opened":
        return { outcome: "unlocked", key: opened.key, rowSecret: opened.rowSecret, passphraseHash };
      case "wrong_link":
        if (passphraseSalt === null) throw new Error(`Push ${row.id} does not open: its key does not match the check.`);
        return { outcome: "wrong_passphrase" };
      case "damaged":
        throw new Error(
          `Push ${row.id} does not open: its row secret is damaged, or sealed under an unknown master key.`,
        );
    }
  };
  if (passphraseSalt === null) return openWith(undefined);
  const tryPassphrase = async () => {
    let tried: Unlocked = { outcome: "wrong_passphrase" };
    for (const spelling of spellingsOf(passphrase)) {
      tried = openWith(await deps.argon2.deriveKey(spelling, passphraseSalt, actor.client));
      if (tried.outcome !== "wrong_passphrase") break;
    }
    return tried;
  };
  return guess(deps, row.id, { now, actor, tryPassphrase });
}

interface Guess {
  readonly now: number;
  readonly actor: Actor;
  readonly tryPassphrase: () => Promise<Unlocked>;
}

/** Charges the client for the work and for a guess at this push. */
async function guess(deps: PushDeps, pushId: number, { now, actor, tryPassphrase }: Guess): Promise<Unlocked> {
  const { client } = actor;
  const isWrong = ({ outcome }: Unlocked) => outcome === "wrong_passphrase";
  const make = async (): Promise<Unlocked> => {
    const charge = await deps.attempts.charge(client, pushId, now);
    if (charge.outcome === "refused") return tooMany(charge);
    try {
      const unlocked = await tryPassphrase();
      if (!isWrong(unlocked)) await charge.refund();
      return unlocked;
    } catch (error) {
      await charge.refund();
      throw error;
    }
  };
  const isRight = (unlocked: Unlocked) => !isWrong(unlocked);
  const isFresh = () => deps.attempts.isFresh(client, pushId, now);
  const made = await deps.hashAttempts.run({ client, now, make, isRight, isFresh });
  const unlocked = made.outcome === "made" ? made.result : tooMany(made);
  if (isWrong(unlocked)) await deps.store.record(pushId, auditRecord("failed_passphrase", actor, now));
  return unlocked;
}

function tooMany({ retryAfterSeconds }: Refused): Unlocked {
  return { outcome: "too_many_attempts", retryAfterSeconds };
}
