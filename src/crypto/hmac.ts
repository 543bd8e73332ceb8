import { hash } from "node:crypto";

const blockBytes = 64;
const digestBytes = 32;
const innerPad = 0x36;
const outerPad = 0x5c;

/**
 * HMAC-SHA256 (RFC 2104) over the concatenation of `parts`; 32 bytes.
 * Built from two one-shot digests: `createHmac` takes three times as long, mostly for creating its objects.
 */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const fitting = key.length > blockBytes ? hash("sha256", key, "buffer") : key;
  let innerBytes = blockBytes;
  for (const part of parts) innerBytes += part.length;
  const inner = Buffer.allocUnsafe(innerBytes).fill(innerPad, 0, blockBytes);
  const outer = Buffer.allocUnsafe(blockBytes + digestBytes).fill(outerPad, 0, blockBytes);
  for (let at = 0; at < fitting.length; at += 1) {
    const byte = fitting[at] ?? 0;
    inner[at] = byte ^ innerPad;
    outer[at] = byte ^ outerPad;
  }
  let at = blockBytes;
  for (const part of parts) {
    inner.set(part, at);
    at += part.length;
  }
  // A "binary" string, one character per byte, costs a third of a new buffer.
  outer.write(hash("sha256", inner, "binary"), blockBytes, "binary");
  return Buffer.from(hash("sha256", outer, "binary"), "binary");
}
