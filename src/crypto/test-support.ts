import type { Random } from "../base/random.ts";

export function hex(digits: string): Buffer {
  return Buffer.from(digits, "hex");
}

/** Returns these bytes in order and throws when they are used up, so a test proves how many were used. */
export function fixedRandom(digits: string): Random {
  let rest = hex(digits);
  return {
    bytes(count) {
      if (count > rest.length) throw new Error("More random bytes were drawn than the test gave.");
      const part = rest.subarray(0, count);
      rest = rest.subarray(count);
      return part;
    },
  };
}

export function withFlippedBit(bytes: Uint8Array, at: number, bit = 0): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at) ^ (1 << bit), at);
  return changed;
}
