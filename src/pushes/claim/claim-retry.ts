import { secondMs } from "../../base/clock.ts";
import { keyedHash } from "../../crypto/sodium.ts";
import type { PushDeps } from "../deps.ts";
import type { ClaimKey } from "../store/idempotency-keys.ts";
import { type PushRow, rowSecrets } from "../store/tables.ts";

const digestBytes = 32;

/** What makes a claim repeatable: the server keeps a copy of the row secret that only the client's idempotency key opens. */
export type RetryKey = NonNullable<ReturnType<typeof retryKeyOf>>;

/** @returns undefined: the client sent no idempotency key, or claims cannot be repeated on this server. */
export function retryKeyOf({ vault, config }: PushDeps, row: PushRow, idempotencyKey: string | undefined) {
  const { claimRetrySeconds } = config;
  if (idempotencyKey === undefined || claimRetrySeconds === 0) return undefined;
  const secrets = [idempotencyKey, row.id, row.sealGeneration] as const;
  // Without the generation: after an edit, a key is still one that was used.
  const digest = keyedHash(vault.indexKey("claim retries"), digestBytes, "digest", idempotencyKey, row.id);
  return {
    digest,
    seal(rowSecret: Buffer, copyId: number, { now, arrivedAt }: { now: number; arrivedAt: number }): ClaimKey {
      const secretSealed = vault.keyring.sealJointly(rowSecrets.seals.claimRetry, row, secrets, rowSecret);
      const expiresAt = now + claimRetrySeconds * secondMs;
      return { pushId: row.id, digest, secretSealed, copyId, expiresAt, arrivedAt };
    },
    open: (secretSealed: Buffer): Buffer | undefined =>
      vault.keyring.openJointly(rowSecrets.seals.claimRetry, row, secrets, secretSealed),
  };
}
