import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import type { AdminAction, AdminEntry, Administrator, Change, UserSummary } from "../admin/administration.ts";
import { endSessions } from "./sessions.ts";
import { toUser, type UserRow, userColumns } from "./users.ts";

export interface NewEntry {
  readonly by: Administrator;
  readonly action: AdminAction;
  readonly subject: string;
  readonly now: number;
}

type SummaryRow = UserRow & { last_signed_in_at: number | null; tokens_in_use: number };

/** Kept for administrators to read; the oldest go first. */
const entriesMax = 10_000;

const searchBy = (contains: string) =>
  `SELECT ${userColumns}, last_signed_in_at,
     (SELECT count(*) FROM api_tokens WHERE api_tokens.user_id = users.id AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > ?)) AS tokens_in_use
   FROM users WHERE ${contains} > 0 ORDER BY users.id DESC LIMIT ? OFFSET ?`;
const searchUsers = sql<[now: number, text: string, limit: number, offset: number], SummaryRow>({
  sqlite: searchBy("instr(email, ?)"),
  postgres: searchBy("strpos(email, ?)"),
});
const byId = sql<[userId: number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
const otherAdmins = sql<[userId: number], { count: number }>(
  "SELECT count(*) AS count FROM users WHERE admin = 1 AND disabled_at IS NULL AND id <> ?",
);
const setAdmin = sql<[admin: number, now: number, userId: number]>(
  "UPDATE users SET admin = ?, updated_at = ? WHERE id = ?",
);
const setDisabled = sql<[disabledAt: number | null, now: number, userId: number]>(
  "UPDATE users SET disabled_at = ?, updated_at = ? WHERE id = ?",
);
const removeUser = sql<[userId: number]>("DELETE FROM users WHERE id = ?");
const depart = sql<[userId: number, now: number]>("INSERT INTO deleted_users (user_id, deleted_at) VALUES (?, ?)");
const insertEntry = sql<
  [now: number, adminId: number | null, adminEmail: string, action: string, subject: string, address: string]
>(
  "INSERT INTO admin_audit_entries (created_at, admin_id, admin_email, action, subject, address) VALUES (?, ?, ?, ?, ?, ?)",
);
const trimEntries = sql<[keptMax: number]>(
  "DELETE FROM admin_audit_entries WHERE id <= (SELECT max(id) FROM admin_audit_entries) - ?",
);
const entriesFrom = sql<[limit: number, offset: number], AdminEntry>(
  `SELECT created_at AS createdAt, admin_id AS adminId, admin_email AS adminEmail, action, subject, address
   FROM admin_audit_entries ORDER BY id DESC LIMIT ? OFFSET ?`,
);

async function recordAction(tx: Transaction, { by, action, subject, now }: NewEntry): Promise<void> {
  await tx.run(insertEntry, now, by.userId, by.email, action, subject, by.address);
  await tx.run(trimEntries, entriesMax);
}

export type AdministrationStore = ReturnType<typeof createAdministrationStore>;

export function createAdministrationStore(db: Database) {
  /** The guard is here, inside the write: of two administrators who remove each other at once, one stays. */
  function changeUser(
    userId: number,
    losesAnAdmin: boolean,
    apply: (tx: Transaction, user: User) => Promise<void>,
  ): Promise<Change> {
    return db.writeSerialized("accounts", async (tx) => {
      const row = await tx.one(byId, userId);
      if (row === undefined) return { outcome: "unknown" };
      const user = toUser(row);
      const counts = user.admin && user.disabledAt === null;
      if (losesAnAdmin && counts && ((await tx.one(otherAdmins, userId))?.count ?? 0) === 0) {
        return { outcome: "last_admin", user };
      }
      await apply(tx, user);
      return { outcome: "done", user };
    });
  }

  return {
    /** Newest first; `text`: a part of the e-mail, "" for all. `now`: which tokens are in use. */
    async searchUsers({
      text,
      now,
      limit,
      offset,
    }: {
      text: string;
      now: number;
      limit: number;
      offset: number;
    }): Promise<readonly UserSummary[]> {
      const rows = await db.read.all(searchUsers, now, text, limit, offset);
      return rows.map((row) => ({
        user: toUser(row),
        lastSignedInAt: row.last_signed_in_at,
        tokensInUse: row.tokens_in_use,
      }));
    },
    setAdmin: (userId: number, admin: boolean, entry: NewEntry): Promise<Change> =>
      changeUser(userId, !admin, async (tx, user) => {
        // Asked for twice, it happened once: the trail tells of changes.
        if (user.admin === admin) return;
        await tx.run(setAdmin, admin ? 1 : 0, entry.now, userId);
        await recordAction(tx, entry);
      }),
    setDisabled: (userId: number, disabled: boolean, entry: NewEntry): Promise<Change> =>
      changeUser(userId, disabled, async (tx, user) => {
        if ((user.disabledAt !== null) === disabled) return;
        await tx.run(setDisabled, disabled ? entry.now : null, entry.now, userId);
        if (disabled) await endSessions(tx, userId, null);
        await recordAction(tx, entry);
      }),
    /** The account with everything that belongs to it in this room. */
    deleteUser: (userId: number, now: number, entry: NewEntry | null): Promise<Change> =>
      changeUser(userId, true, async (tx) => {
        // Read by the room of pushes, whose rows know their owner by this number.
        await tx.run(depart, userId, now);
        // Everything else in this room goes with the row (ON DELETE CASCADE).
        await tx.run(removeUser, userId);
        if (entry !== null) await recordAction(tx, entry);
      }),
    /** Together with the change that it tells of. */
    recordAction,
    listEntries: (limit: number, offset: number): Promise<readonly AdminEntry[]> =>
      db.read.all(entriesFrom, limit, offset),
  };
}
