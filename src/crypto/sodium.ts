import type { Random } from "../base/random.ts";
import { loadSodium, nonceBytes, type SodiumLibrary, tagBytes } from "./sodium-library.ts";

/** The length of every key below. */
export const keyBytes = 32;
export const aeadOverheadBytes = nonceBytes + tagBytes;

const hashBytesMin = 16;
const hashBytesMax = 64;

/** A text is its UTF-8, a number 8 bytes big-endian; null differs from every other part. */
export type Part = string | number | null | Uint8Array;

const lengthBytes = 4;
const numberBytes = 8;
const nullLength = 0xffff_ffff;
const half = 0x1_0000_0000;

function partBytes(part: Part): number {
  if (part === null) return 0;
  if (typeof part === "number") return numberBytes;
  return typeof part === "string" ? Buffer.byteLength(part, "utf8") : part.length;
}

/**
 * Each part after its length in 4 bytes, so that no two lists have the same encoding.
 * @throws RangeError when a number is negative or no safe integer.
 */
export function encodeParts(...parts: readonly Part[]): Buffer<ArrayBuffer> {
  return encodeAll(parts);
}

function encodeAll(parts: readonly Part[]): Buffer<ArrayBuffer> {
  let bytes = 0;
  for (const part of parts) bytes += lengthBytes + partBytes(part);
  const encoded = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const part of parts) {
    const length = partBytes(part);
    at = encoded.writeUInt32BE(part === null ? nullLength : length, at);
    if (typeof part === "number") {
      if (!Number.isSafeInteger(part) || part < 0) throw new RangeError("A number is a safe integer from 0.");
      encoded.writeUInt32BE(Math.floor(part / half), at);
      encoded.writeUInt32BE(part % half, at + lengthBytes);
    } else if (typeof part === "string") {
      encoded.write(part, at, "utf8");
    } else if (part !== null) {
      encoded.set(part, at);
    }
    at += length;
  }
  return encoded;
}

function assertKey(key: Uint8Array): void {
  if (key.length !== keyBytes) throw new RangeError(`A key has ${keyBytes} bytes.`);
}

/** Tests run the same cases over both builds of the library. */
export function createSodium(library: SodiumLibrary) {
  /**
   * BLAKE2b with a key: a pseudo-random function and a MAC. Without the key, nothing about the parts can be guessed.
   * @param lengthBytes 16 to 64; another length is another function. @param label the purpose, unlike that of any other use
   * of the key.
   */
  function keyedHash(
    key: Uint8Array,
    lengthBytes: number,
    ...labelAndParts: readonly [label: string, ...Part[]]
  ): Buffer<ArrayBuffer> {
    assertKey(key);
    if (!Number.isInteger(lengthBytes) || lengthBytes < hashBytesMin || lengthBytes > hashBytesMax) {
      throw new RangeError(`A keyed hash has ${hashBytesMin} to ${hashBytesMax} bytes.`);
    }
    const hash = Buffer.allocUnsafe(lengthBytes);
    library.hash(hash, encodeAll(labelAndParts), key);
    return hash;
  }

  return {
    library: library.name,
    keyedHash,
    /** Another key of 32 bytes for the purpose `label`, which reveals nothing about `key` or its other derived keys. */
    deriveKey: (key: Uint8Array, ...labelAndParts: readonly [label: string, ...Part[]]): Buffer<ArrayBuffer> =>
      keyedHash(key, keyBytes, ...labelAndParts),
    /**
     * XChaCha20-Poly1305 (IETF) with a random nonce of 24 bytes, so that a key may seal any number of values.
     * @param associatedData is not stored and must be the same to open. @returns nonce | ciphertext | tag.
     */
    sealAead(key: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array, random: Random): Buffer<ArrayBuffer> {
      assertKey(key);
      const sealed = Buffer.allocUnsafe(aeadOverheadBytes + plaintext.length);
      const nonce = random.bytes(nonceBytes);
      sealed.set(nonce);
      library.encrypt(sealed.subarray(nonceBytes), plaintext, associatedData, { nonce, key });
      return sealed;
    },
    /** @returns undefined for a wrong key or other associated data, and for any other bytes. */
    openAead(key: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Buffer<ArrayBuffer> | undefined {
      assertKey(key);
      if (sealed.length < aeadOverheadBytes) return undefined;
      return library.decrypt(sealed.subarray(nonceBytes), associatedData, sealed.subarray(0, nonceBytes), key);
    },
  };
}

export const { library, keyedHash, deriveKey, sealAead, openAead } = createSodium(await loadSodium());
