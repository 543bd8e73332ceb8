import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Database, InTransaction, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { integer, nullable, RowShape, type StoredRowOf } from "../../database/table.ts";
import type { User } from "../account.ts";
import {
  type AdminAction,
  type AdminEntry,
  type Administrator,
  boundedActions,
  type Change,
  type UserSummary,
} from "../admin/admin-actions.ts";
import { endFirstRun } from "./first-run.ts";
import { revokeTokens } from "./passwords.ts";
import { takeOverFromScim } from "./scim-users.ts";
import { endAnySession, endSessions, forgetLogouts } from "./sessions.ts";
import { adminEntries, deletedUsers, users } from "./tables.ts";
import { findOtherAdmins, findUserIn, openUser, type UserRow, userColumns } from "./users.ts";

export interface UserCounts {
  readonly total: number;
  readonly active: number;
}

export interface NewEntry {
  readonly by: Administrator;
  readonly action: AdminAction;
  readonly subject: string;
  readonly now: number;
}

/** The oldest entries beyond this number are removed. */
const entriesMax = 10_000;

const summary = new RowShape({ lastSignedInAt: nullable(integer), signInCount: integer, tokensInUse: integer });
const summaryColumns = summary.selectExpressions({
  lastSignedInAt: "last_signed_in_at",
  signInCount: "sign_in_count",
  tokensInUse: `(SELECT count(*) FROM api_tokens WHERE api_tokens.user_id = users.id AND revoked_at IS NULL
     AND (expires_at IS NULL OR expires_at > ?))`,
});
const searchBy = (contains: string) =>
  `SELECT ${userColumns}, ${summaryColumns} FROM users WHERE service_group_id IS NULL AND ${contains} > 0
   ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`;
type SummaryRow = UserRow & StoredRowOf<typeof summary>;
const searchUsers = sql<[now: number, text: string, limit: number, offset: number], SummaryRow>({
  sqlite: searchBy("instr(email, ?)"),
  postgres: searchBy("strpos(email, ?)"),
});
const summaryById = sql<[now: number, userId: number], SummaryRow>(
  `SELECT ${userColumns}, ${summaryColumns} FROM users WHERE id = ?`,
);
const countUsers = sql<[activeSince: number], UserCounts>(
  `SELECT count(*) AS total, count(CASE WHEN last_signed_in_at > ? THEN 1 END) AS active FROM users
   WHERE service_group_id IS NULL`,
);
const removeUser = sql<[userId: number]>("DELETE FROM users WHERE id = ?");
const markDeleted = deletedUsers.insert();
const insertEntry = adminEntries.insert();
const boundedMax = 1_000;
const boundedSorts: readonly (readonly AdminAction[])[] = Object.values(boundedActions);
/** Counts only the entries of the same sort. */
const trimming = (which: "IN" | "NOT IN", actions: readonly AdminAction[]) => {
  const entries = `FROM admin_audit_entries WHERE action ${which} (${actions.map((name) => `'${name}'`).join()})`;
  return sql<[keptMax: number]>(`DELETE ${entries} AND id <= (SELECT id ${entries} ORDER BY id DESC LIMIT 1 OFFSET ?)`);
};
const trimEntries = trimming("NOT IN", boundedSorts.flat());
const trimBounded = boundedSorts.map((actions) => ({ actions, trim: trimming("IN", actions) }));
const entryPage = adminEntries.select<[limit: number, offset: number]>("ORDER BY id DESC LIMIT ? OFFSET ?");

/** Part of the transaction of the change that is recorded. */
export async function recordAction(tx: Transaction, { by, action, subject, now }: NewEntry): Promise<void> {
  const { userId: adminId, email: adminEmail, address } = by;
  await tx.run(insertEntry, ...adminEntries.values({ createdAt: now, adminId, adminEmail, action, subject, address }));
  const bounded = trimBounded.find(({ actions }) => actions.includes(action));
  if (bounded === undefined) await tx.run(trimEntries, entriesMax);
  else await tx.run(bounded.trim, boundedMax);
}

/** Requires the accounts lock. Sessions and API tokens end for good. */
export async function disableUser(tx: Transaction, access: AccessKeys, userId: number, now: number): Promise<void> {
  await users.change(tx, access, userId, { disabledAt: now, updatedAt: now });
  await endSessions(tx, userId, null);
  await tx.run(revokeTokens, now, userId);
}

export type AdministrationStore = ReturnType<typeof createAdministrationStore>;
function storeParts(db: Database, access: AccessKeys) {
  function openSummary(row: SummaryRow): UserSummary | undefined {
    const user = openUser(access, row);
    const { lastSignedInAt, signInCount, tokensInUse } = row;
    return user && { user, lastSignedInAt, signInCount, tokensInUse };
  }

  /** The check runs inside the write: if two administrators remove each other at once, one of them stays. */
  function changeUser(
    userId: number,
    losesAnAdmin: boolean,
    apply: (tx: Transaction, user: User) => Promise<void>,
  ): Promise<Change> {
    return db.writeSerialized("accounts", async (tx) => {
      const user = await findUserIn(tx, access, userId);
      if (user === undefined) return { outcome: "unknown" };
      const isActiveAdmin = user.admin && user.disabledAt === null;
      if (losesAnAdmin && isActiveAdmin && (await findOtherAdmins(tx, access, userId)).length === 0) {
        return { outcome: "last_admin", user };
      }
      await apply(tx, user);
      return { outcome: "done", user };
    });
  }

  return { openSummary, changeUser, db, access };
}

type StoreParts = ReturnType<typeof storeParts>;

function userReads({ openSummary, db }: StoreParts) {
  return {
    /** `active`: signed in after `activeSince`. */
    countUsers: async (activeSince: number): Promise<UserCounts> =>
      (await db.read.one(countUsers, activeSince)) ?? { total: 0, active: 0 },

    /** Newest first. @param asked `text`: a part of the email address, "" for all; `now`: which tokens are in use. */
    async searchUsers(asked: {
      text: string;
      now: number;
      limit: number;
      offset: number;
    }): Promise<readonly UserSummary[]> {
      const { text, now, limit, offset } = asked;
      const rows = await db.read.all(searchUsers, now, text, limit, offset);
      return rows.map(openSummary).filter((found) => found !== undefined);
    },

    async findUserSummary(userId: number, now: number): Promise<UserSummary | undefined> {
      const [row] = await db.read.all(summaryById, now, userId);
      return row && openSummary(row);
    },
  };
}

function userChanges({ changeUser, db, access }: StoreParts) {
  return {
    setAdmin: (userId: number, admin: boolean, entry: NewEntry): Promise<Change> =>
      changeUser(userId, !admin, async (tx, user) => {
        // Only actual changes are recorded.
        if (user.admin === admin) return;
        await users.change(tx, access, userId, { admin, updatedAt: entry.now });
        await recordAction(tx, entry);
      }),

    confirmEmail: (userId: number, entry: NewEntry): Promise<Change> =>
      changeUser(userId, false, async (tx, user) => {
        if (user.confirmedAt !== null) return;
        await users.change(tx, access, userId, { confirmedAt: entry.now, updatedAt: entry.now });
        await recordAction(tx, entry);
      }),

    setDisabled: (userId: number, disabled: boolean, entry: NewEntry): Promise<Change> =>
      changeUser(userId, disabled, async (tx, user) => {
        const wasByScim = await takeOverFromScim(tx, access, userId);
        if ((user.disabledAt !== null) === disabled && !(disabled && wasByScim)) return;
        if (disabled) await disableUser(tx, access, userId, entry.now);
        else await users.change(tx, access, userId, { disabledAt: null, updatedAt: entry.now });
        await recordAction(tx, entry);
      }),

    endSessions: (userId: number, entry: NewEntry): Promise<Change> =>
      changeUser(userId, false, async (tx) => {
        await endSessions(tx, userId, null);
        await recordAction(tx, entry);
      }),

    /** Each user whose sessions end has an entry, with their number. */
    endSomeSessions: (sessionIds: readonly number[], by: Administrator, now: number): Promise<void> =>
      db.writeSerialized("accounts", async (tx) => {
        const counts = new Map<string, number>();
        for (const id of sessionIds) {
          const user = await endAnySession(tx, access, id);
          if (user !== undefined) counts.set(user.email, (counts.get(user.email) ?? 0) + 1);
        }
        for (const [email, count] of counts)
          await recordAction(tx, { by, action: "ended_some_sessions", subject: `${email} (${count})`, now });
      }),

    /** Deletes the account and everything in this room that belongs to it. @param together runs first in the transaction. */
    deleteUser: (userId: number, now: number, entry: NewEntry | null, together?: InTransaction): Promise<Change> =>
      changeUser(userId, true, async (tx) => {
        await together?.(tx);
        // Pushes only know their owner's id: the job that removes them reads it here.
        await tx.run(markDeleted, ...deletedUsers.values({ userId, deletedAt: now }));
        await forgetLogouts(tx, userId);
        // All other rows of the account are deleted with this one (ON DELETE CASCADE).
        await tx.run(removeUser, userId);
        // It may have been the last user.
        await endFirstRun(tx);
        if (entry !== null) await recordAction(tx, entry);
      }),
  };
}

function adminTrail({ db }: StoreParts) {
  return {
    /** Part of the transaction of the change that is recorded. */
    recordAction,

    recordAccess: (entry: NewEntry): Promise<void> => db.write((tx) => recordAction(tx, entry)),

    listEntries: async (limit: number, offset: number): Promise<readonly AdminEntry[]> =>
      (await db.read.all(entryPage, limit, offset)).map((row) => adminEntries.decode(row)),
  };
}

export function createAdministrationStore(db: Database, access: AccessKeys) {
  const shared = storeParts(db, access);
  return { ...userReads(shared), ...userChanges(shared), ...adminTrail(shared) };
}
