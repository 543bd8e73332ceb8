import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { endSessions } from "./sessions.ts";
import { toUser, type UserRow, userColumns } from "./users.ts";

export interface PasswordChange {
  readonly userId: number;
  /** The hash that the current password was verified against: if it has changed since, nothing is written. null: any. */
  readonly from: string | null;
  readonly to: string;
  /** The session that does not end; null: all end. */
  readonly keptSessionId: number | null;
  /** The kept session must be complete and have begun after this; null: not checked. */
  readonly freshSince: number | null;
  readonly revokesTokens: boolean;
  readonly now: number;
  /** Runs in the same transaction, before anything is written; false: nothing changes. */
  readonly provided?: (tx: Transaction) => Promise<boolean>;
  /** Runs in the same transaction, with the user as it was before. */
  readonly onChanged: (tx: Transaction, user: User) => Promise<void>;
}

const byId = sql<[userId: number], UserRow & { passwordHash: string }>(
  `SELECT ${userColumns}, password_hash AS passwordHash FROM users WHERE id = ?`,
);
const freshSession = sql<[sessionId: number | null, userId: number, since: number], { one: number }>(
  "SELECT 1 AS one FROM sessions WHERE id = ? AND user_id = ? AND waits_for_factor = 0 AND created_at > ?",
);
const setPassword = sql<[hash: string, now: number, userId: number]>(
  "UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ?",
);
const setPasswordFrom = sql<[hash: string, now: number, userId: number, from: string]>(
  "UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ? AND password_hash = ?",
);
const removeLinks = sql<[userId: number]>("DELETE FROM mailed_links WHERE user_id = ?");

const revokeTokens = sql<[now: number, userId: number]>(
  "UPDATE api_tokens SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL",
);

async function change(tx: Transaction, wanted: PasswordChange): Promise<boolean> {
  const { userId, from, to, keptSessionId, freshSince, revokesTokens, now, provided, onChanged } = wanted;
  const row = await tx.one(byId, userId);
  if (row === undefined || (from !== null && row.passwordHash !== from)) return false;
  const fresh = freshSince === null || (await tx.one(freshSession, keptSessionId, userId, freshSince)) !== undefined;
  if (!fresh) return false;
  if (provided !== undefined && !(await provided(tx))) return false;
  await tx.run(setPassword, to, now, userId);
  await tx.run(removeLinks, userId);
  await endSessions(tx, userId, keptSessionId);
  if (revokesTokens) await tx.run(revokeTokens, now, userId);
  await onChanged(tx, toUser(row));
  return true;
}

export type PasswordStore = ReturnType<typeof createPasswordStore>;

export function createPasswordStore(db: Database) {
  return {
    /** `passwordHash` "": the account has no password. */
    async findPassword(userId: number): Promise<{ user: User; passwordHash: string } | undefined> {
      const row = await db.read.one(byId, userId);
      return row === undefined ? undefined : { user: toUser(row), passwordHash: row.passwordHash };
    },
    /** Ends the other sessions and removes all mailed links. @returns false: a condition was not met. */
    changePassword: (wanted: PasswordChange): Promise<boolean> =>
      db.writeSerialized("accounts", (tx) => change(tx, wanted)),
    /** Requires the accounts lock. Whether this is still the account's hash. */
    isCurrent: async (tx: Transaction, userId: number, passwordHash: string): Promise<boolean> =>
      (await tx.one(byId, userId))?.passwordHash === passwordHash,
    /** Requires the accounts lock. Stores another hash of the same password. @returns false: the hash has changed since. */
    rehash: async (tx: Transaction, userId: number, from: string, to: string, now: number): Promise<boolean> =>
      (await tx.run(setPasswordFrom, to, now, userId, from)) === 1,
  };
}
