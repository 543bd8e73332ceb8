import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Database, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { removeMailedLinks } from "./mailed-links.ts";
import type { PasswordSeals } from "./password-seals.ts";
import { endSessions, findCompleteSession } from "./sessions.ts";
import { users } from "./tables.ts";
import { openUser, type UserRow, userColumns } from "./users.ts";

export interface PasswordChange {
  readonly userId: number;
  /** The hash that the current password was verified against: if it has changed since, nothing is written. null: any. */
  readonly from: string | null;
  readonly to: string;
  /** The session that does not end; null: all end. */
  readonly keptSessionId: number | null;
  /** The kept session must be complete and have been proved after this; null: not checked. */
  readonly freshSince: number | null;
  readonly revokesTokens: boolean;
  readonly now: number;
  /** Runs in the same transaction, before anything is written; false: nothing changes. */
  readonly provided?: (tx: Transaction) => Promise<boolean>;
  /** Runs in the same transaction, with the user as it was before. */
  readonly onChanged: (tx: Transaction, user: User) => Promise<void>;
}

const byId = sql<[userId: number], UserRow & { passwordSealed: Buffer | null }>(
  `SELECT ${userColumns}, password_sealed AS passwordSealed FROM users WHERE id = ?`,
);

/** Revokes the API tokens of one user. A revoked token has no MAC any more. */
export const revokeTokens = sql<[now: number, userId: number]>(
  "UPDATE api_tokens SET revoked_at = ?, mac = NULL WHERE user_id = ? AND revoked_at IS NULL",
);

/** `passwordHash` "": the account has no password. */
async function findPassword(connection: ReadConnection, seals: PasswordSeals, userId: number) {
  const row = await connection.one(byId, userId);
  const user = openUser(seals.access, row);
  if (row === undefined || user === undefined) return undefined;
  return { user, passwordHash: seals.open(user, row.passwordSealed) };
}

async function isFresh(tx: Transaction, access: AccessKeys, { userId, keptSessionId, freshSince }: PasswordChange) {
  if (freshSince === null) return true;
  const session = keptSessionId === null ? undefined : await findCompleteSession(tx, access, keptSessionId, userId);
  return session !== undefined && session.provedAt !== null && session.provedAt > freshSince;
}

async function change(tx: Transaction, seals: PasswordSeals, wanted: PasswordChange): Promise<boolean> {
  const { userId, from, to, keptSessionId, revokesTokens, now, provided, onChanged } = wanted;
  const found = await findPassword(tx, seals, userId);
  if (found === undefined || (from !== null && found.passwordHash !== from)) return false;
  if (!(await isFresh(tx, seals.access, wanted))) return false;
  if (provided !== undefined && !(await provided(tx))) return false;
  await users.change(tx, seals.access, userId, { ...seals.columnsOf(userId, to), isUnused: false, updatedAt: now });
  await tx.run(removeMailedLinks, userId);
  await endSessions(tx, userId, keptSessionId);
  if (revokesTokens) await tx.run(revokeTokens, now, userId);
  await onChanged(tx, found.user);
  return true;
}

export type PasswordStore = ReturnType<typeof createPasswordStore>;

export function createPasswordStore(db: Database, seals: PasswordSeals) {
  return {
    /** `passwordHash` "": the account has no password. */
    findPassword: (
      userId: number,
      connection: ReadConnection = db.read,
    ): Promise<{ user: User; passwordHash: string } | undefined> => findPassword(connection, seals, userId),
    /** Ends the other sessions and removes all mailed links. @returns false: a condition was not met. */
    changePassword: (wanted: PasswordChange): Promise<boolean> =>
      db.writeSerialized("accounts", (tx) => change(tx, seals, wanted)),
    /** Requires the accounts lock. Whether this is still the account's hash. */
    isCurrent: async (tx: Transaction, userId: number, passwordHash: string): Promise<boolean> =>
      (await findPassword(tx, seals, userId))?.passwordHash === passwordHash,
    /** Requires the accounts lock. Stores another hash of the same password. @returns false: the hash has changed since. */
    rehash: async (
      tx: Transaction,
      userId: number,
      { from, to, now }: { readonly from: string; readonly to: string; readonly now: number },
    ): Promise<boolean> =>
      (await findPassword(tx, seals, userId))?.passwordHash === from &&
      (await users.change(tx, seals.access, userId, { ...seals.columnsOf(userId, to), updatedAt: now })),
  };
}
