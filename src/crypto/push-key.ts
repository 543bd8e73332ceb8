import { deriveKey, type Part } from "./sodium.ts";

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
  const identity: readonly Part[] = [id, sealGeneration, kind, ownerId];
  const pushKey = deriveKey(rowSecret, "push key", urlToken, passphraseHash ?? null, ...identity);
  return {
    /**
     * 32 bytes, stored with the push. It tells a wrong passphrase from a damaged row, reveals nothing, and commits to the key:
     * no ciphertext opens under two keys that both match it.
     */
    check: deriveKey(pushKey, "check"),
    get payloadKey() {
      return deriveKey(pushKey, "payload");
    },
    /** Seals the keys of the files. */
    get fileKeysKey() {
      return deriveKey(pushKey, "file keys");
    },
  };
}
