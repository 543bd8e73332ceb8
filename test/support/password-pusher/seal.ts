import { randomBytes } from "node:crypto";
import { aesKey, encrypt } from "../../../src/crypto/aes-gcm.ts";
import { deriveColumnKey, type SealedPlace } from "../../../src/import/password-pusher/lockbox.ts";

/** A value as Lockbox stores it. */
export function sealedByLockbox(masterKey: string, place: SealedPlace, text: string): string {
  const nonce = randomBytes(12);
  const key = aesKey(deriveColumnKey(masterKey, place));
  const { ciphertext, tag } = encrypt(key, nonce, Buffer.alloc(0), Buffer.from(text, "utf8"));
  return Buffer.concat([nonce, ciphertext, tag]).toString("base64");
}
