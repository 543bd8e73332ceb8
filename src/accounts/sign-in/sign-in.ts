import type { Clock } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import { bcryptBytesMax, isBcryptHash } from "../../crypto/bcrypt.ts";
import type { Argon2Queue } from "../../crypto/passphrase.ts";
import type { Transaction } from "../../database/database.ts";
import type { ClientContext, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import type { PasswordStore } from "../store/passwords.ts";
import type { UserStore } from "../store/users.ts";
import type { PasswordCheck } from "./password-check.ts";

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

export function createSignIn(deps: Deps) {
  const { store, passwords, clock, argon2, check, settings, startSession } = deps;

  return {
    /**
     * undefined: no such pair; the same work is done for an unknown e-mail. A bcrypt hash that matched is replaced. With
     * account mails, an account whose e-mail nobody has confirmed is as unknown as one that is not there: whoever signs up
     * with an address and tries its password next learns nothing of who had it before.
     * @throws AppError too_many_requests, unavailable.
     */
    async signIn({
      email,
      password,
      client,
    }: {
      email: string;
      password: string;
      client: ClientContext;
    }): Promise<SignedIn | undefined> {
      if (settings.loginsDisabled) return undefined;
      const now = clock.now();
      const address = normalizeEmail(email);
      const found = address === undefined ? undefined : await store.findUserByEmail(address);
      const account = settings.emails && found?.user.confirmedAt === null ? undefined : found;
      const matches = await check({ email: address, account, password, client }, now);
      if (account === undefined || !matches) return undefined;
      const { user, passwordHash } = account;
      const upgraded = mayUpgrade(passwordHash, password)
        ? await argon2.hashPassword(password, client.throttleKey)
        : undefined;
      // Within the write that starts the session: a password that was changed meanwhile lets nobody in any more.
      const provided = (tx: Transaction) =>
        upgraded === undefined
          ? passwords.isCurrent(tx, user.id, passwordHash)
          : passwords.rehash(tx, user.id, passwordHash, upgraded, now);
      const sessionToken = await startSession(user, client, now, provided);
      return sessionToken === undefined ? undefined : { user, sessionToken, waitsForFactor: user.hasSecondFactor };
    },
  };
}

/** Of a longer password bcrypt has proven the beginning only: a slip at its end would become the password. */
function mayUpgrade(passwordHash: string, password: string): boolean {
  return isBcryptHash(passwordHash) && Buffer.byteLength(password, "utf8") <= bcryptBytesMax;
}
