import { hash, hashRaw, verify } from "@node-rs/argon2";
import { createFairQueue, type FairQueueLimits } from "../base/fair-queue.ts";
import { isBcryptHash, verifyBcrypt } from "./bcrypt.ts";

/** Argon2id (RFC 9106), version 0x13: 19 MiB, two passes, one lane, 32 bytes out. */
const cost = { algorithm: 2, version: 1, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;

export type Argon2Queue = ReturnType<typeof createArgon2Queue>;

/**
 * Argon2id outside the event loop, in a bounded queue. Secrets are used as their UTF-8 bytes, without trimming or
 * normalisation. `client` is a throttle key. Each running operation holds 19 MiB and a thread of the pool that file access
 * also needs. Every operation throws AppError `unavailable` when the queue, or its part for this client, is full.
 */
export function createArgon2Queue(limits: FairQueueLimits) {
  const queue = createFairQueue(limits, "Too many passphrases are being checked right now. Try again in a moment.");
  return {
    /** @returns 32 bytes. */
    deriveKey: (secret: string, salt: Buffer, client: string) =>
      queue.run(client, () => hashRaw(Buffer.from(secret, "utf8"), { ...cost, salt })),
    /** @returns a PHC string with a fresh 16-byte salt from the system's CSPRNG. */
    hashPassword: (password: string, client: string) =>
      queue.run(client, () => hash(Buffer.from(password, "utf8"), cost)),
    /** @param stored a result of `hashPassword`, or a bcrypt hash of an imported account. */
    verifyPassword: (stored: string, password: string, client: string) =>
      queue.run(client, () =>
        isBcryptHash(stored) ? verifyBcrypt(stored, password) : verify(stored, Buffer.from(password, "utf8")),
      ),
    /** Operations that have not started yet. */
    get waiting(): number {
      return queue.waiting;
    },
    get running(): number {
      return queue.running;
    },
  };
}
