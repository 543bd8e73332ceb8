import { normalizeEmail } from "../../base/email.ts";
import { bcryptBytesMax, isBcryptHash } from "../../crypto/bcrypt.ts";
import { isOutdatedHash } from "../../crypto/passphrase.ts";
import type { Transaction } from "../../database/database.ts";
import type { ClientContext, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { SessionStarts } from "../sessions/sessions.ts";
import type { PasswordStore } from "../store/passwords.ts";
import type { UserStore } from "../store/users.ts";
import type { PasswordCheck } from "./password-check.ts";

interface Deps extends Pick<AccountsDeps, "clock" | "argon2" | "settings"> {
  readonly store: UserStore;
  readonly passwords: PasswordStore;
  readonly check: PasswordCheck;
  readonly startSession: SessionStarts["start"];
}

export interface SignedIn {
  readonly user: User;
  readonly sessionToken: string;
  /** The second factor is still missing: the session may do nothing else. */
  readonly waitsForFactor: boolean;
}

export function createSignIn(deps: Deps) {
  const { store, passwords, clock, argon2, check, settings, startSession } = deps;

  return {
    /**
     * Replaces a hash that matched and is bcrypt or has other parameters than new ones. With account emails, an unconfirmed account is treated like an unknown one, so
     * that signing up with an address and trying its password reveals nothing.
     * @returns undefined: no such email address and password. Unknown addresses cost the same work.
     * @throws AppError too_many_requests, unavailable.
     */
    async signIn(given: {
      email: string;
      password: string;
      client: ClientContext;
      /** The browser keeps the session's cookie when it closes. */
      persistent?: boolean;
    }): Promise<SignedIn | undefined> {
      const { email, password, client, persistent = false } = given;
      if (settings.loginsDisabled) return undefined;
      const now = clock.now();
      const address = normalizeEmail(email);
      const found = address === undefined ? undefined : await store.findUserByEmail(address);
      const account = settings.requiresConfirmation && found?.user.confirmedAt === null ? undefined : found;
      const matches = await check({ email: address, account, password, client }, now);
      if (account === undefined || !matches) return undefined;
      const { user, passwordHash } = account;
      const upgraded = mayUpgrade(passwordHash, password)
        ? await argon2.hashPassword(password, client.throttleKey)
        : undefined;
      // Checked in the write that starts the session: a password that was changed meanwhile must not sign in.
      const provided = (tx: Transaction) =>
        upgraded === undefined
          ? passwords.isCurrent(tx, user.id, passwordHash)
          : passwords.rehash(tx, user.id, { from: passwordHash, to: upgraded, now });
      const sessionToken = await startSession(user, client, now, { provided, persistent });
      return sessionToken === undefined ? undefined : { user, sessionToken, waitsForFactor: user.hasSecondFactor };
    },
  };
}

/** bcrypt ignores the end of longer passwords: a typing error there would become part of the new hash. */
function mayUpgrade(passwordHash: string, password: string): boolean {
  if (isBcryptHash(passwordHash)) return Buffer.byteLength(password, "utf8") <= bcryptBytesMax;
  return isOutdatedHash(passwordHash);
}
