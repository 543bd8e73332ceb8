import type { KeyObject } from "node:crypto";
import type { Random } from "../base/random.ts";
import { aesKey, decrypt, encrypt, nonceBytes, tagBytes } from "./aes-gcm.ts";

/**
 * One sealed value: version 0x01 | key id 4 | nonce 12 | ciphertext | tag 16, AES-256-GCM (NIST SP 800-38D).
 * Associated data: version | key id | UTF-8 of the context. The first two have a fixed length, so no two contexts
 * have the same encoding, and a value that is moved to another row or field does not open.
 */
const version = 1;
const keyIdBytes = 4;
const headerBytes = 1 + keyIdBytes;
const textStart = headerBytes + nonceBytes;
export const sealOverheadBytes = textStart + tagBytes;

export interface SealingKey {
  /** 4 bytes, in plain text in every envelope: which key of a ring opens it. */
  readonly id: Buffer;
  readonly key: KeyObject;
}

const unringedId = Buffer.alloc(keyIdBytes);

/** @param id 4 bytes. @param bytes 32. */
export function sealingKey(id: Buffer, bytes: Uint8Array): SealingKey {
  return { id, key: aesKey(bytes) };
}

/** For keys that need no id: derived from a link, or stored sealed under another key. @param bytes 32. */
export function unringedKey(bytes: Uint8Array): SealingKey {
  return sealingKey(unringedId, bytes);
}

function associatedData(keyId: Buffer, context: string): Buffer {
  const data = Buffer.allocUnsafe(headerBytes + Buffer.byteLength(context, "utf8"));
  data[0] = version;
  data.set(keyId, 1);
  data.write(context, headerBytes, "utf8");
  return data;
}

/**
 * @param context of the row and field that the value belongs to, e.g. "push:42:payload".
 * @returns the envelope, `sealOverheadBytes` longer than the plaintext.
 */
export function seal(key: SealingKey, context: string, plaintext: Uint8Array, random: Random): Buffer {
  const nonce = random.bytes(nonceBytes);
  const data = associatedData(key.id, context);
  const { ciphertext, tag } = encrypt(key.key, nonce, data, plaintext);
  return Buffer.concat([data.subarray(0, headerBytes), nonce, ciphertext, tag]);
}

/** @returns undefined for a wrong key, context or version, and for any other bytes. */
export function open(key: SealingKey, context: string, envelope: Uint8Array): Buffer | undefined {
  if (envelope.length < sealOverheadBytes || envelope[0] !== version) return undefined;
  if (!key.id.equals(envelope.subarray(1, headerBytes))) return undefined;
  const nonce = envelope.subarray(headerBytes, textStart);
  return decrypt(key.key, nonce, associatedData(key.id, context), envelope.subarray(textStart));
}

/** @returns 8 hex digits, not verified; undefined when the bytes are not an envelope of this version. */
export function envelopeKeyId(envelope: Uint8Array): string | undefined {
  if (envelope.length < sealOverheadBytes || envelope[0] !== version) return undefined;
  return Buffer.from(envelope.subarray(1, headerBytes)).toString("hex");
}
