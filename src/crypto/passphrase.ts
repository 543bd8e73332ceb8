import { hash, hashRaw, verify } from "@node-rs/argon2";
import { createFairQueue, type FairQueueLimits } from "../base/fair-queue.ts";
import type { Random } from "../base/random.ts";
import { anonymousSet, parameterSets, userSet } from "./argon2-costs.ts";
import { isBcryptHash, isVerifiableBcrypt, verifyBcrypt } from "./bcrypt.ts";

/** Argon2id (RFC 9106), version 0x13, one lane, 32 bytes out. */
const algorithm = { algorithm: 2, version: 1, parallelism: 1, outputLen: 32 } as const;

const saltBytes = 16;
const hashBytes = 32;
const storedShape = /^argon2id:(\d{1,3}):([A-Za-z0-9+/]{11,86}):([A-Za-z0-9+/]{43})$/;
const phcShape = /^\$argon2id\$v=19\$m=(\d{1,9}),t=(\d{1,9}),p=1\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{43})$/;

/** @throws Error when this program has no such set. */
function parametersOf(set: number) {
  const costs = parameterSets[set];
  if (costs === undefined) throw new Error(`This program has no Argon2id parameter set ${set}.`);
  const { queueUnits, ...parameters } = costs;
  return { parameters: { ...algorithm, ...parameters }, queueUnits };
}

/** A salt for `deriveKey`: the number of the parameter set (1 byte) | random bytes (16). @param owned by a signed-in user. */
export function makePassphraseSalt(random: Random, owned: boolean): Buffer {
  return Buffer.concat([Uint8Array.of(owned ? userSet : anonymousSet), random.bytes(saltBytes)]);
}

const unpadded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
const stored = (set: number, salt: string, hashed: string) => `argon2id:${set}:${salt}:${hashed}`;

/** @param phc as the library returns it. @returns undefined: its parameters are those of no set. */
function fromPhc(phc: string): string | undefined {
  const [, memoryCost, timeCost, salt = "", hashed = ""] = phcShape.exec(phc) ?? [];
  const set = Object.entries(parameterSets).find(
    ([, costs]) => Number(memoryCost) === costs.memoryCost && Number(timeCost) === costs.timeCost,
  );
  return set === undefined ? undefined : stored(Number(set[0]), salt, hashed);
}

/**
 * The form in which a password hash of another installation is stored.
 * @param given bcrypt or a PHC string of Argon2id. @returns undefined: this server cannot verify passwords against it.
 */
export function adoptPasswordHash(given: string): string | undefined {
  return isVerifiableBcrypt(given) ? given : fromPhc(given);
}

/**
 * A hash that no password matches. Passwords of unknown accounts are checked against it, at the cost of a real one, so that
 * the time taken does not reveal who has an account.
 */
export function makeDummyHash(random: Random): string {
  return stored(userSet, unpadded(random.bytes(saltBytes)), unpadded(random.bytes(hashBytes)));
}

/** Whether it is an Argon2id hash with other parameters than those of `hashPassword`. */
export function isOutdatedHash(passwordHash: string): boolean {
  const set = storedShape.exec(passwordHash)?.[1];
  return set !== undefined && set !== String(userSet);
}

/**
 * What a typed secret may have been stored as. The same characters arrive composed or decomposed, as keyboard, system and
 * clipboard make them. New secrets are stored composed (NFC, RFC 8265, section 4.2.1). Hashes of other
 * installations, and older ones, are of what was typed then.
 */
export function spellingsOf(typed: string): readonly [composed: string, ...others: string[]] {
  const composed = typed.normalize("NFC");
  return composed === typed ? [composed] : [composed, typed];
}

/** Imports and their verification bound the number of their tasks themselves: each waits for its hash, and none is refused. */
export const argon2LimitsForImports: FairQueueLimits = {
  runningMax: 2,
  waitingMax: Number.MAX_SAFE_INTEGER,
  waitingPerClientMax: Number.MAX_SAFE_INTEGER,
};

export type Argon2Queue = ReturnType<typeof createArgon2Queue>;

/**
 * Argon2id outside the event loop, in a bounded queue. Secrets are used as their UTF-8 bytes, without trimming; see
 * `spellingsOf`. `client` is a throttle key. Each running operation holds up to 64 MiB and a thread of the pool that file
 * access also needs. Every operation throws AppError `unavailable` when the queue, or its part for this client, is full.
 * @param limits of waiting: in units of about 20 ms, see `Argon2Costs`.
 */
export function createArgon2Queue(limits: FairQueueLimits) {
  const queue = createFairQueue(limits, "Too many passphrases are being checked right now. Try again in a moment.");

  async function verifyArgon2(set: number, salt: string, hashed: string, password: string): Promise<boolean> {
    const { memoryCost, timeCost } = parametersOf(set).parameters;
    const phc = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${salt}$${hashed}`;
    return await verify(phc, Buffer.from(password, "utf8"));
  }

  async function verifySpelling(passwordHash: string, password: string, client: string): Promise<boolean> {
    if (isBcryptHash(passwordHash)) {
      return await queue.run(client, () => verifyBcrypt(passwordHash, password), parametersOf(userSet).queueUnits);
    }
    const [, set, salt, hashed] = storedShape.exec(passwordHash) ?? [];
    if (salt === undefined || hashed === undefined) throw new Error("A stored password hash is malformed.");
    const number = Number(set);
    return await queue.run(client, () => verifyArgon2(number, salt, hashed, password), parametersOf(number).queueUnits);
  }

  return {
    /**
     * Takes one spelling of a secret as it is.
     * @param salt as `makePassphraseSalt` returns it. @returns 32 bytes. @throws Error when its parameter set is unknown.
     */
    async deriveKey(secret: string, salt: Buffer, client: string): Promise<Buffer> {
      const [set = 0] = salt;
      const { parameters, queueUnits } = parametersOf(set);
      const salted = { ...parameters, salt: salt.subarray(1) };
      return await queue.run(client, () => hashRaw(Buffer.from(secret, "utf8"), salted), queueUnits);
    },
    /** @returns the number of the parameter set, a fresh 16-byte salt from the system's CSPRNG, and the hash. */
    hashPassword: (password: string, client: string): Promise<string> =>
      queue.run(
        client,
        async () => {
          const hashed = fromPhc(
            await hash(Buffer.from(spellingsOf(password)[0], "utf8"), parametersOf(userSet).parameters),
          );
          if (hashed === undefined) throw new Error("The hash has other parameters than requested.");
          return hashed;
        },
        parametersOf(userSet).queueUnits,
      ),
    /**
     * @param passwordHash a result of `hashPassword` or `adoptPasswordHash`.
     * @throws Error when it is something else, or its parameter set is unknown.
     */
    async verifyPassword(passwordHash: string, password: string, client: string): Promise<boolean> {
      for (const spelling of spellingsOf(password)) {
        if (await verifySpelling(passwordHash, spelling, client)) return true;
      }
      return false;
    },
    /** Operations that have not started yet. */
    get waiting(): number {
      return queue.waiting;
    },
    get running(): number {
      return queue.running;
    },
  };
}
