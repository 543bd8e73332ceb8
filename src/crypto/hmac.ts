import { hash } from "node:crypto";

const blockBytes = 64;
const digestBytes = 32;

/**
 * HMAC-SHA256 (RFC 2104) over the concatenation of `parts`; 32 bytes. Built on the one-shot hash, which makes no
 * stream object per call: about four times as fast as `createHmac` for the short inputs of key derivation and look-up.
 */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const blockKey = key.length > blockBytes ? hash("sha256", key, "buffer") : key;
  let messageBytes = 0;
  for (const part of parts) messageBytes += part.length;

  const inner = Buffer.alloc(blockBytes + messageBytes, 0x36);
  const outer = Buffer.alloc(blockBytes + digestBytes, 0x5c);
  blockKey.forEach((byte, at) => {
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  });
  let filled = blockBytes;
  for (const part of parts) {
    inner.set(part, filled);
    filled += part.length;
  }
  outer.set(hash("sha256", inner, "buffer"), blockBytes);
  return hash("sha256", outer, "buffer");
}
