import type { Random } from "../base/random.ts";
import { decodeReadable, encodeReadable } from "./readable-encoding.ts";
import { deriveKey, keyedHash } from "./sodium.ts";

const randomBytes = 14;
const idBytes = 6;
const checkBytes = 16;
const digestBytes = 32;
/** A keyed hash is not shorter. Six of its bytes are used. */
const maskBytes = 16;

/** What a url_token says about its push. It decides nothing before it is compared with the push's own check. */
export interface LinkAddress {
  /** 0, which no push has, when the text does not have the form of our url_tokens. */
  readonly pushId: number;
  /** 16 bytes, keyed, over the whole token. Stored with the push. */
  readonly check: Buffer;
  /** 32 bytes, keyed: finds a link that another server made. */
  readonly importedDigest: () => Buffer;
}

export type UrlTokens = ReturnType<typeof createUrlTokens>;

/**
 * Links that name their row: a url_token is 112 random bits and the push's id of 48 bits, encrypted so that it looks random
 * without the index secret: id XOR PRF(key, random bits). A push is found by its primary key. Flipped bits address
 * another row, whose check does not match.
 * @param indexSecret 32 bytes.
 */
export function createUrlTokens(indexSecret: Buffer) {
  const idKey = deriveKey(indexSecret, "link id");
  const checkKey = deriveKey(indexSecret, "link check");
  const importKey = deriveKey(indexSecret, "imported link");

  /** Encrypts and decrypts. */
  function maskId(random: Buffer, id: Buffer): Buffer {
    const masked = keyedHash(idKey, maskBytes, "id", random).subarray(0, idBytes);
    for (let at = 0; at < idBytes; at += 1) masked[at] = (masked[at] ?? 0) ^ (id[at] ?? 0);
    return masked;
  }

  const checkOf = (urlToken: string): Buffer => keyedHash(checkKey, checkBytes, "token", urlToken);

  return {
    /** @param pushId below 2^48. @returns 32 lower-case letters and digits. */
    make(pushId: number, random: Random): string {
      const id = Buffer.alloc(idBytes);
      id.writeUIntBE(pushId, 0, idBytes);
      const bits = random.bytes(randomBytes);
      return encodeReadable(Buffer.concat([bits, maskId(bits, id)]));
    },
    /** The check of a new push. */
    checkOf,
    /** @param urlToken any text: ours, that of another server, or neither. */
    addressOf(urlToken: string): LinkAddress {
      const bytes = decodeReadable(urlToken, randomBytes + idBytes);
      return {
        pushId: bytes ? maskId(bytes.subarray(0, randomBytes), bytes.subarray(randomBytes)).readUIntBE(0, idBytes) : 0,
        check: checkOf(urlToken),
        importedDigest: () => keyedHash(importKey, digestBytes, "token", urlToken),
      };
    },
  };
}
