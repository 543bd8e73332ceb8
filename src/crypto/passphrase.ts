import { hash, hashRaw, verify } from "@node-rs/argon2";
import { unavailable } from "../base/errors.ts";
import { isBcryptHash, verifyBcrypt } from "./bcrypt.ts";

/** Argon2id (RFC 9106), version 0x13: 19 MiB, two passes, one lane, 32 bytes out. */
const cost = { algorithm: 2, version: 1, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;

export interface Argon2QueueLimits {
  /** Each running operation holds 19 MiB and a thread of the pool that file access also needs. */
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitingPerClientMax: number;
}

export type Argon2Queue = ReturnType<typeof createArgon2Queue>;

/**
 * Argon2id outside the event loop, in a bounded queue. Secrets are used as their UTF-8 bytes, without trimming or
 * normalisation. `client` is a throttle key: clients are served round-robin, so that one flooding client does not block others.
 * Every operation throws AppError `unavailable` when the queue, or its part for this client, is full.
 */
export function createArgon2Queue(limits: Argon2QueueLimits) {
  for (const [name, limit] of Object.entries(limits)) {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`${name} must be a whole number of at least 1.`);
  }
  /** In the order in which clients are served; a served client moves to the end. Clients without waiting starts are removed. */
  const startsByClient = new Map<string, (() => void)[]>();
  let waiting = 0;
  let running = 0;

  function startNext(): void {
    const [next] = startsByClient;
    if (next === undefined || running >= limits.runningMax) return;
    const [client, starts] = next;
    startsByClient.delete(client);
    const start = starts.shift();
    if (starts.length > 0) startsByClient.set(client, starts);
    if (start === undefined) throw new Error("A client without waiting starts was served.");
    waiting -= 1;
    running += 1;
    start();
  }

  function acquireSlot(client: string): Promise<void> {
    if (running < limits.runningMax && waiting === 0) {
      running += 1;
      return Promise.resolve();
    }
    const starts = startsByClient.get(client) ?? [];
    if (waiting >= limits.waitingMax || starts.length >= limits.waitingPerClientMax) {
      throw unavailable("Too many passphrases are being checked right now. Try again in a moment.", 1);
    }
    waiting += 1;
    startsByClient.set(client, starts);
    return new Promise((resolve) => starts.push(resolve));
  }

  async function run<T>(client: string, work: () => Promise<T>): Promise<T> {
    await acquireSlot(client);
    try {
      return await work();
    } finally {
      running -= 1;
      startNext();
    }
  }

  return {
    /** @returns 32 bytes. */
    deriveKey: (secret: string, salt: Buffer, client: string) =>
      run(client, () => hashRaw(Buffer.from(secret, "utf8"), { ...cost, salt })),
    /** @returns a PHC string with a fresh 16-byte salt from the system's CSPRNG. */
    hashPassword: (password: string, client: string) => run(client, () => hash(Buffer.from(password, "utf8"), cost)),
    /** @param stored a result of `hashPassword`, or a bcrypt hash of an imported account. */
    verifyPassword: (stored: string, password: string, client: string) =>
      run(client, () =>
        isBcryptHash(stored) ? verifyBcrypt(stored, password) : verify(stored, Buffer.from(password, "utf8")),
      ),
    /** Operations that have not started yet. */
    get waiting(): number {
      return waiting;
    },
    get running(): number {
      return running;
    },
  };
}
