import { randomFillSync } from "node:crypto";

/** A source of unpredictable bytes. Tests may inject another; production has only `systemRandom`. */
export interface Random {
  bytes(count: number): Buffer;
}

const poolBytes = 4096;
let pool = Buffer.alloc(0);
let used = 0;

/**
 * The system's CSPRNG, read in blocks: one system call serves many nonces. Each byte is used once. Each block is a new
 * allocation, so callers own the part that they get.
 */
export const systemRandom: Random = {
  bytes(count) {
    if (count > poolBytes / 4) return randomFillSync(Buffer.allocUnsafeSlow(count));
    if (used + count > pool.length) {
      pool = randomFillSync(Buffer.allocUnsafeSlow(poolBytes));
      used = 0;
    }
    const part = pool.subarray(used, used + count);
    used += count;
    return part;
  },
};
