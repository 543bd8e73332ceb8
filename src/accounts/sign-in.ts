import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Place, User } from "./account.ts";
import { hasCharacters } from "./character-count.ts";
import { normalizeEmail } from "./email.ts";
import type { SessionStarts } from "./sessions.ts";
import { createSignInThrottle, signInLimits } from "./sign-in-throttle.ts";
import type { UserStore } from "./sqlite/users.ts";
import { passwordCharactersMax } from "./users.ts";

interface Deps {
  readonly store: UserStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly argon2: Pick<Argon2Queue, "verifyPassword">;
  readonly startSession: SessionStarts["start"];
}

export interface SignedIn {
  readonly user: User;
  readonly sessionToken: string;
  /** The second factor has not come yet: the session may do nothing else. */
  readonly waitsForFactor: boolean;
}

export interface SignIn {
  /**
   * undefined: no such pair; the same work is done for an unknown e-mail.
   * @throws AppError too_many_requests, unavailable.
   */
  signIn(request: { email: string; password: string; place: Place }): Promise<SignedIn | undefined>;
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

export function createSignIn({ store, clock, random, argon2, startSession }: Deps): SignIn {
  const throttle = createSignInThrottle(signInLimits);
  const dummyHash = makeDummyHash(random);

  async function signIn({ email, password, place }: Parameters<SignIn["signIn"]>[0]): Promise<SignedIn | undefined> {
    const now = clock.now();
    const address = normalizeEmail(email);
    const attempt = throttle.charge(place.client, address ?? malformed, now);
    if (!hasCharacters(password, 0, passwordCharactersMax)) return undefined;

    const found = address === undefined ? undefined : store.findUserByEmail(address);
    const able = found !== undefined && found.passwordHash !== "" && found.user.disabledAt === null;
    let matches: boolean;
    try {
      matches = await argon2.verifyPassword(able ? found.passwordHash : dummyHash, password, place.client);
    } catch (error) {
      // Not tried at all, so nothing was learnt by it.
      attempt.refund();
      throw error;
    }
    if (!able || !matches) return undefined;
    attempt.refund();
    const { user } = found;
    const sessionToken = await startSession(user, place, now);
    return sessionToken === undefined ? undefined : { user, sessionToken, waitsForFactor: user.hasSecondFactor };
  }

  return { signIn };
}
