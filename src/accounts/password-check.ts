import type { Random } from "../base/random.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Limits } from "../limits/limits.ts";
import type { ClientContext, User } from "./account.ts";
import { hasCharacters } from "./character-count.ts";
import type { KnownClients } from "./known-clients.ts";
import { passwordCharactersMax } from "./password-rules.ts";
import { createSignInThrottle, signInLimits } from "./sign-in-throttle.ts";

export interface PasswordTry {
  /** Normalised; undefined: what was typed is no address. */
  readonly email: string | undefined;
  readonly account: { readonly user: User; readonly passwordHash: string } | undefined;
  readonly password: string;
  readonly client: ClientContext;
}

/**
 * The one way a password is tried, whichever door asks: all doors draw on the same counters.
 * @returns false for a disabled account and for one without password too; unknown ones cost the same work.
 * @throws AppError too_many_requests, unavailable.
 */
export type PasswordCheck = (attempt: PasswordTry, now: number) => Promise<boolean>;

/** All malformed addresses share one counter: what is typed there must not become keys without end. */
const malformed = "";
/** An id that no user has. */
const nobody = 0;

/**
 * The hash that an unknown e-mail is checked against, at the price of a real one, so that the time taken does not
 * tell who has an account. Its digest is random, not the digest of anything.
 */
export function makeDummyHash(random: Random): string {
  const unpadded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=19456,t=2,p=1$${unpadded(random.bytes(16))}$${unpadded(random.bytes(32))}`;
}

export function createPasswordCheck(deps: {
  readonly random: Random;
  readonly argon2: Pick<Argon2Queue, "verifyPassword">;
  readonly knownClients: Pick<KnownClients, "isKnown">;
  readonly limits: Limits;
}): PasswordCheck {
  const throttle = createSignInThrottle(signInLimits, deps.limits);
  const dummyHash = makeDummyHash(deps.random);

  return async ({ email, account, password, client }, now) => {
    // Looked for without an account too, in vain: a question to the database takes a time that can be measured.
    const isKnownClient = await deps.knownClients.isKnown(account?.user.id ?? nobody, client);
    const attempt = await throttle.charge(
      { client: client.throttleKey, email: email ?? malformed, isKnownClient },
      now,
    );
    if (!hasCharacters(password, 0, passwordCharactersMax)) return false;
    const able = account !== undefined && account.passwordHash !== "" && account.user.disabledAt === null;
    let matches: boolean;
    try {
      matches = await deps.argon2.verifyPassword(able ? account.passwordHash : dummyHash, password, client.throttleKey);
    } catch (error) {
      // Not tried at all, so nothing was learnt by it.
      await attempt.refund();
      throw error;
    }
    if (!able || !matches) return false;
    await attempt.refund();
    return true;
  };
}
