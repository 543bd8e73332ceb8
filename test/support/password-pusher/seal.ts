import { createCipheriv, randomBytes } from "node:crypto";
import { deriveColumnKey, type LockboxColumn } from "../../../packages/import-password-pusher/src/lockbox.ts";

/** A value as Lockbox stores it. */
export function sealedByLockbox(masterKey: string, column: LockboxColumn, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", deriveColumnKey(masterKey, column), nonce);
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString("base64");
}
