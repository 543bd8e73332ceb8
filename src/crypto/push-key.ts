import { deriveKey, keyBytes, keyedHash, type Part } from "./sodium.ts";

/** What a push key is derived from besides the two secrets. None of it can be changed without losing the key. */
export interface PushIdentity {
  readonly id: number;
  /** Each edit of the content raises it by one. */
  readonly sealGeneration: number;
  readonly kind: string;
  /** null: anonymous. */
  readonly ownerId: number | null;
}

/** The half of a push key that only the recipient has. */
export interface LinkSecrets {
  readonly urlToken: string;
  /** 32 bytes, from Argon2id. undefined: the push has no passphrase. */
  readonly passphraseHash: Buffer | undefined;
}

export type PushKey = ReturnType<typeof derivePushKey>;

const passphraseHashBytes = 32;
/** The number of the format. */
const label = "push key 2";

/**
 * The key of one generation of a push. It needs both halves: the row secret, which the server stores sealed, and the link
 * with its passphrase.
 * @param rowSecret 32 random bytes. @throws RangeError when a length is wrong.
 */
export function derivePushKey(
  rowSecret: Uint8Array,
  { urlToken, passphraseHash }: LinkSecrets,
  { id, sealGeneration, kind, ownerId }: PushIdentity,
) {
  if (passphraseHash !== undefined && passphraseHash.length !== passphraseHashBytes) {
    throw new RangeError(`A passphrase hash has ${passphraseHashBytes} bytes.`);
  }
  const link: readonly Part[] = [urlToken, passphraseHash ?? null, id, sealGeneration, kind, ownerId];
  // One hash for both: its halves reveal nothing about each other.
  const hash = keyedHash(rowSecret, 2 * keyBytes, label, ...link);
  return {
    /**
     * 32 bytes, stored with the push. It tells a wrong passphrase from a damaged row, reveals nothing, and commits to both halves and
     * so to the keys: no ciphertext opens under two keys that both match it.
     */
    check: hash.subarray(0, keyBytes),
    payloadKey: hash.subarray(keyBytes),
    /** Seals the keys of the files. */
    fileKeysKey: () => deriveKey(rowSecret, "file keys 2", ...link),
  };
}
