import { minuteMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";

/** As long as a browser lets people look for their key. */
export const challengeLifetimeMs = 5 * minuteMs;
const randomBytes = 16;
const timeBytes = 8;
/** Of the base64url: several times what ours have. */
const lengthMax = 512;

/**
 * What a challenge is for. It counts there and nowhere else: an answer got at one door opens no other, and those that
 * belong to a session count in that session alone.
 */
export type ChallengeUse =
  | { readonly purpose: "sign_in" }
  | { readonly purpose: "add" | "second_factor" | "confirm"; readonly sessionId: number };

export interface PasskeyChallenges {
  /** 128 random bits and the time, sealed: it needs no row, so a flood of requests displaces nobody's. */
  make(use: ChallengeUse, now: number): string;
  /** Whether we made it for this and it has not run out. That none counts twice is for `claimChallenge` to see. */
  isOpen(challenge: string, use: ChallengeUse, now: number): boolean;
}

/** However its base64url was written. */
export function challengeDigest(challenge: string): Buffer {
  return digest(Buffer.from(challenge, "base64url").toString("base64url"));
}

export function createPasskeyChallenges(deps: {
  readonly keyring: () => Keyring;
  readonly random: Random;
}): PasskeyChallenges {
  return {
    make(use, now) {
      const time = Buffer.alloc(timeBytes);
      time.writeBigUInt64BE(BigInt(now));
      const content = Buffer.concat([time, deps.random.bytes(randomBytes)]);
      return deps.keyring().seal(contextOf(use), content).toString("base64url");
    },
    isOpen(challenge, use, now) {
      if (challenge.length > lengthMax) return false;
      const content = deps.keyring().open(contextOf(use), Buffer.from(challenge, "base64url"));
      if (content?.length !== timeBytes + randomBytes) return false;
      const madeAt = Number(content.readBigUInt64BE());
      return now >= madeAt && now < madeAt + challengeLifetimeMs;
    },
  };
}

function contextOf(use: ChallengeUse): string {
  return use.purpose === "sign_in" ? "passkey-challenge:sign_in" : `passkey-challenge:${use.purpose}:${use.sessionId}`;
}
