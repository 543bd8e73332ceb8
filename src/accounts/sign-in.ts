import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { isBcryptHash } from "../crypto/bcrypt.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Place, User } from "./account.ts";
import type { AccountsDeps } from "./accounts.ts";
import { normalizeEmail } from "./email.ts";
import type { PasswordCheck } from "./password-check.ts";
import type { SessionStarts } from "./sessions.ts";
import type { PasswordStore } from "./sqlite/passwords.ts";
import type { UserStore } from "./sqlite/users.ts";

interface Deps {
  readonly store: UserStore;
  readonly passwords: PasswordStore;
  readonly clock: Clock;
  readonly argon2: Pick<Argon2Queue, "hashPassword">;
  readonly check: PasswordCheck;
  readonly settings: AccountsDeps["settings"];
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
   * undefined: no such pair; the same work is done for an unknown e-mail. A bcrypt hash that matched is replaced.
   * @throws AppError too_many_requests, unavailable; forbidden: the pair is right, but the e-mail is not confirmed yet.
   * Only who knows the password hears of that.
   */
  signIn(request: { email: string; password: string; place: Place }): Promise<SignedIn | undefined>;
}

export function createSignIn(deps: Deps): SignIn {
  const { store, passwords, clock, argon2, check, settings, startSession } = deps;

  return {
    async signIn({ email, password, place }) {
      if (settings.loginsDisabled) return undefined;
      const now = clock.now();
      const address = normalizeEmail(email);
      const account = address === undefined ? undefined : store.findUserByEmail(address);
      const matches = await check({ email: address, account, password, place }, now);
      if (account === undefined || !matches) return undefined;
      const { user, passwordHash } = account;
      if (settings.emails && user.confirmedAt === null) {
        throw new AppError("forbidden", "Confirm your e-mail address first.");
      }
      const upgraded = isBcryptHash(passwordHash) ? await argon2.hashPassword(password, place.client) : undefined;
      // Within the write that starts the session: a password that was changed meanwhile lets nobody in any more.
      const provided = () =>
        upgraded === undefined
          ? passwords.stands(user.id, passwordHash)
          : passwords.rehash(user.id, passwordHash, upgraded, now);
      const sessionToken = await startSession(user, place, now, provided);
      return sessionToken === undefined ? undefined : { user, sessionToken, waitsForFactor: user.hasSecondFactor };
    },
  };
}
