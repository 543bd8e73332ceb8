import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { User } from "./account.ts";
import type { Accounts } from "./accounts.ts";
import { hasCharacters } from "./character-count.ts";
import { normalizeEmail } from "./email.ts";
import { createSignInThrottle, signInLimits } from "./sign-in-throttle.ts";
import type { AccountStore } from "./store-sqlite.ts";
import { passwordCharactersMax } from "./users.ts";

interface Deps {
  readonly store: AccountStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly argon2: Pick<Argon2Queue, "verifyPassword">;
  readonly startSession: (user: User, now: number) => Promise<string>;
}

/** All malformed addresses share one counter: what is typed there must not become keys without end. */
const malformed = "";

/**
 * The hash that an unknown e-mail is checked against, at the price of a real one, so that the time taken does not
 * tell who has an account. Its digest is random, not the digest of anything.
 */
export function makeDummyHash(random: Random): string {
  const unpadded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=19456,t=2,p=1$${unpadded(random.bytes(16))}$${unpadded(random.bytes(32))}`;
}

export function createSignIn({ store, clock, random, argon2, startSession }: Deps): Accounts["signIn"] {
  const throttle = createSignInThrottle(signInLimits);
  const dummyHash = makeDummyHash(random);

  return async ({ email, password, client }) => {
    const now = clock.now();
    const address = normalizeEmail(email);
    const attempt = throttle.charge(client, address ?? malformed, now);
    if (!hasCharacters(password, 0, passwordCharactersMax)) return undefined;

    const found = address === undefined ? undefined : store.findUserByEmail(address);
    let matches: boolean;
    try {
      matches = await argon2.verifyPassword(found?.passwordHash ?? dummyHash, password, client);
    } catch (error) {
      // Not tried at all, so nothing was learnt by it.
      attempt.refund();
      throw error;
    }
    if (found === undefined || !matches) return undefined;
    attempt.refund();
    return { user: found.user, sessionToken: await startSession(found.user, now) };
  };
}
