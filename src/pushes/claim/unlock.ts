import type { PushKey } from "../../crypto/push-key.ts";
import { sealedColumns } from "../../crypto/sealed-columns.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import type { Actor } from "../push.ts";
import { openPushKey } from "../seals.ts";
import type { SealedPush } from "../store/tables.ts";

export type Unlocked =
  | {
      readonly outcome: "unlocked";
      readonly key: PushKey;
      readonly rowSecret: Buffer;
      readonly passphraseHash: Buffer | undefined;
    }
  | { readonly outcome: "wrong_passphrase" }
  | { readonly outcome: "too_many_attempts"; readonly retryAfterSeconds: number };

/**
 * Derives the push key with the link and, where the push has one, the passphrase. An attempt stays charged unless the
 * passphrase is correct or could not be tried. A wrong passphrase is audited. Owners are throttled like viewers.
 * @param openSecret opens the row secret; default: that of the push's own row.
 */
export async function unlock(
  deps: PushDeps,
  { row, rowSecretSealed }: SealedPush,
  secrets: { readonly urlToken: string; readonly passphrase: string },
  now: number,
  actor: Actor,
  openSecret = (sealed: Buffer) => deps.vault.keyring.open(sealedColumns.rowSecret, row, sealed),
): Promise<Unlocked> {
  const derived = await derive(deps, row, secrets.passphrase, now, actor);
  if (derived.outcome !== "derived") return derived;
  if (rowSecretSealed === null) throw new Error(`The live push ${row.id} lacks its row secret.`);
  const { urlToken } = secrets;
  const opened = openPushKey(row, openSecret(rowSecretSealed), { urlToken, passphraseHash: derived.hash });
  switch (opened.outcome) {
    case "opened":
      await derived.refund();
      return { outcome: "unlocked", key: opened.key, rowSecret: opened.rowSecret, passphraseHash: derived.hash };
    case "wrong_link":
      if (row.passphraseSalt === null)
        throw new Error(`Push ${row.id} does not open: its key does not match the check.`);
      await deps.store.record(row.id, auditRecord("failed_passphrase", actor, now));
      return { outcome: "wrong_passphrase" };
    case "damaged":
      throw new Error(
        `Push ${row.id} does not open: its row secret is damaged, or sealed under an unknown master key.`,
      );
  }
}

type Derived =
  | { readonly outcome: "derived"; readonly hash: Buffer | undefined; refund(): Promise<void> }
  | Extract<Unlocked, { outcome: "too_many_attempts" }>;

async function derive(
  deps: PushDeps,
  row: SealedPush["row"],
  passphrase: string,
  now: number,
  actor: Actor,
): Promise<Derived> {
  if (row.passphraseSalt === null) return { outcome: "derived", hash: undefined, refund: async () => undefined };
  const charge = await deps.attempts.charge(actor.client, row.id, now);
  if (charge.outcome === "refused") {
    return { outcome: "too_many_attempts", retryAfterSeconds: charge.retryAfterSeconds };
  }
  try {
    const hash = await deps.argon2.deriveKey(passphrase, row.passphraseSalt, actor.client);
    return { outcome: "derived", hash, refund: charge.refund };
  } catch (error) {
    await charge.refund();
    throw error;
  }
}
