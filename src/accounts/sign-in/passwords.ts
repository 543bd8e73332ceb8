import { minuteMs } from "../../base/clock.ts";
import type { InTransaction } from "../../database/database.ts";
import { type ClientContext, noOrigin, type Session } from "../account.ts";
import { accountNotification } from "../account-emails.ts";
import { operator } from "../admin/users.ts";
import type { AccountsDeps } from "../deps.ts";
import type { PasswordStore } from "../store/passwords.ts";
import type { PasswordCheck } from "./password-check.ts";
import { type PasswordProblem, passwordProblem } from "./password-rules.ts";

/** For accounts without a password, it is enough that their user proved to be there so long ago. */
const freshSessionMs = 10 * minuteMs;

/** Uses the absolute difference: a session that was proved before the clock was set back is not fresh. */
export function isFreshSession({ provedAt }: Pick<Session, "provedAt">, now: number): boolean {
  return provedAt !== null && Math.abs(now - provedAt) <= freshSessionMs;
}

interface Deps extends Pick<AccountsDeps, "clock" | "argon2" | "outbox"> {
  readonly store: PasswordStore;
  readonly check: PasswordCheck;
}

export type Passwords = ReturnType<typeof createPasswords>;

function passwordChange({ store, clock, argon2, check, outbox }: Deps) {
  return {
    /**
     * Reauthenticates before a change that a hijacked session must not make.
     * @returns false also for an account without a password. @throws AppError too_many_requests, unavailable.
     */
    async checkPassword(userId: number, password: string, client: ClientContext): Promise<boolean> {
      const account = await store.findPassword(userId);
      return check({ email: account?.user.email, account, password, client }, clock.now());
    },

    /**
     * Ends all sessions but `keepSessionId`, removes all mailed links and notifies the owner by email. An account without
     * a password (single sign-on) gets its first one with `current` "", in a session that was proved at most ten minutes ago
     * ("sign_in_again" otherwise): an unattended session must not give anybody permanent access.
     * @throws AppError too_many_requests, unavailable.
     */
    async changePassword(given: {
      userId: number;
      current: string;
      password: string;
      keepSessionId: number;
      /** API tokens would keep the access of somebody who knew the old password. */
      revokesTokens: boolean;
      client: ClientContext;
    }): Promise<"changed" | "wrong_password" | "sign_in_again" | PasswordProblem> {
      const { userId, current, password, keepSessionId, revokesTokens, client } = given;
      const now = clock.now();
      const account = await store.findPassword(userId);
      if (account === undefined) return "wrong_password";
      const { user, passwordHash } = account;
      const isFirst = passwordHash === "";
      if (isFirst && current !== "") return "wrong_password";
      if (!isFirst && !(await check({ email: user.email, account, password: current, client }, now))) {
        return "wrong_password";
      }
      const problem = passwordProblem(password, user.email);
      if (problem !== undefined) return problem;
      const changed = await store.changePassword({
        userId,
        now,
        from: passwordHash,
        to: await argon2.hashPassword(password, client.throttleKey),
        keptSessionId: keepSessionId,
        revokesTokens,
        freshSince: isFirst ? now - freshSessionMs : null,
        onChanged: (tx, before) =>
          outbox.put(tx, accountNotification(before, "password_changed", { client, at: now }), now),
      });
      if (changed) return "changed";
      return isFirst ? "sign_in_again" : "wrong_password";
    },
  };
}

function passwordSetting({ store, clock, argon2, outbox }: Deps) {
  return {
    /** For operators. Ends all sessions of the user and revokes all API tokens. @param together written in the same transaction. */
    async setPassword(
      userId: number,
      password: string,
      together?: InTransaction,
    ): Promise<"changed" | "unknown_user" | PasswordProblem> {
      const now = clock.now();
      const account = await store.findPassword(userId);
      if (account === undefined) return "unknown_user";
      const problem = passwordProblem(password, account.user.email);
      if (problem !== undefined) return problem;
      const to = await argon2.hashPassword(password, operator);
      const changed = await store.changePassword({
        userId,
        now,
        to,
        from: null,
        keptSessionId: null,
        revokesTokens: true,
        freshSince: null,
        async onChanged(tx, before) {
          await outbox.put(tx, accountNotification(before, "password_changed", { client: noOrigin, at: now }), now);
          await together?.(tx);
        },
      });
      return changed ? "changed" : "unknown_user";
    },
  };
}

export function createPasswords(deps: Deps) {
  return { ...passwordChange(deps), ...passwordSetting(deps) };
}
