import { hkdf } from "./hkdf.ts";
import { type SealingKey, unringedKey } from "./seal.ts";

const keyBytes = 32;
const passphraseHashBytes = 32;
const separator = Uint8Array.of(0);
const noSalt = Buffer.alloc(0);

/**
 * The key that only the link provides: HKDF-SHA256 (RFC 5869) of the token, followed by the Argon2id output of the passphrase
 * if there is one. The hash has a fixed length and comes last, so no token alone equals a token with a hash.
 * @param salt of the push, not secret.
 * @param passphraseHash 32 bytes.
 * @throws RangeError when the hash has a wrong length.
 */
export function linkKey(urlToken: string, salt: Buffer, passphraseHash: Buffer | undefined): SealingKey {
  const token = Buffer.from(urlToken, "utf8");
  if (passphraseHash !== undefined && passphraseHash.length !== passphraseHashBytes) {
    throw new RangeError(`A passphrase hash has ${passphraseHashBytes} bytes.`);
  }
  const secret = passphraseHash === undefined ? token : Buffer.concat([token, separator, passphraseHash]);
  return unringedKey(hkdf(secret, salt, "sealpush link v1", keyBytes));
}

/** The key of one file of a push, 32 bytes. It opens neither the payload nor another file. */
export function fileKey(dataKey: Buffer, fileId: number): Buffer {
  if (!Number.isSafeInteger(fileId)) throw new RangeError("A file id is a safe integer.");
  return hkdf(dataKey, noSalt, `sealpush file ${fileId}`, keyBytes);
}
