import type { Database } from "../../db/sqlite.ts";
import type { User } from "../account.ts";
import type { AdminAction, AdminEntry, Administrator, Change, UserSummary } from "../administration.ts";
import { prepareEndSessions } from "./end-sessions.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

export interface AdministrationStore {
  /** Newest first; `text`: a part of the e-mail, "" for all. `now`: which tokens are in use. */
  searchUsers(asked: { text: string; now: number; limit: number; offset: number }): UserSummary[];
  setAdmin(userId: number, admin: boolean, entry: NewEntry): Promise<Change>;
  setDisabled(userId: number, disabled: boolean, entry: NewEntry): Promise<Change>;
  /** The account with everything that belongs to it in this room. */
  deleteUser(userId: number, now: number, entry: NewEntry | null): Promise<Change>;
  record(entry: NewEntry): Promise<void>;
  /** The same inside a unit of `db.write`. */
  recordInUnit(entry: NewEntry): void;
  listEntries(limit: number, offset: number): AdminEntry[];
}

export interface NewEntry {
  readonly by: Administrator;
  readonly action: AdminAction;
  readonly subject: string;
  readonly now: number;
}

type SummaryRow = UserRow & { last_signed_in_at: number | null; tokens_in_use: number };

interface EntryRow {
  created_at: number;
  admin_id: number | null;
  admin_email: string;
  action: AdminAction;
  subject: string;
  address: string;
}

/** Kept for administrators to read; the oldest go first. */
const entriesMax = 10_000;

export function createAdministrationStore(db: Database): AdministrationStore {
  const search = db.reader.prepare<[number, string, number, number], SummaryRow>(
    `SELECT ${userColumns}, last_signed_in_at,
       (SELECT count(*) FROM api_tokens WHERE api_tokens.user_id = users.id AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > ?)) AS tokens_in_use
     FROM users WHERE instr(email, ?) > 0 ORDER BY users.id DESC LIMIT ? OFFSET ?`,
  );
  const find = db.writer.prepare<[number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
  const otherAdmins = db.writer.prepare<[number], { count: number }>(
    "SELECT count(*) AS count FROM users WHERE admin = 1 AND disabled_at IS NULL AND id <> ?",
  );
  const setAdmin = db.writer.prepare<[number, number, number]>(
    "UPDATE users SET admin = ?, updated_at = ? WHERE id = ?",
  );
  const setDisabled = db.writer.prepare<[number | null, number, number]>(
    "UPDATE users SET disabled_at = ?, updated_at = ? WHERE id = ?",
  );
  const remove = db.writer.prepare<[number]>("DELETE FROM users WHERE id = ?");
  const depart = db.writer.prepare<[number, number]>(
    "INSERT INTO departed_owners (user_id, departed_at) VALUES (?, ?)",
  );
  const endSessions = prepareEndSessions(db);
  const insertEntry = db.writer.prepare<[number, number | null, string, string, string, string]>(
    "INSERT INTO admin_entries (created_at, admin_id, admin_email, action, subject, address) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const trimEntries = db.writer.prepare<[number]>(
    "DELETE FROM admin_entries WHERE id <= (SELECT max(id) FROM admin_entries) - ?",
  );
  const entries = db.reader.prepare<[number, number], EntryRow>(
    `SELECT created_at, admin_id, admin_email, action, subject, address FROM admin_entries
     ORDER BY id DESC LIMIT ? OFFSET ?`,
  );

  function write({ by, action, subject, now }: NewEntry): void {
    insertEntry.run(now, by.userId, by.email, action, subject, by.address);
    trimEntries.run(entriesMax);
  }

  /** The guard is here, inside the write: of two administrators who remove each other at once, one stays. */
  function changeUser(userId: number, losesAnAdmin: boolean, apply: (user: User) => void): Promise<Change> {
    return db.write(() => {
      const row = find.get(userId);
      if (row === undefined) return { outcome: "unknown" };
      const user = toUser(row);
      const counts = user.admin && user.disabledAt === null;
      if (losesAnAdmin && counts && (otherAdmins.get(userId)?.count ?? 0) === 0) return { outcome: "last_admin", user };
      apply(user);
      return { outcome: "done", user };
    });
  }

  return {
    searchUsers: ({ text, now, limit, offset }) =>
      search.all(now, text, limit, offset).map((row) => ({
        user: toUser(row),
        lastSignedInAt: row.last_signed_in_at,
        tokensInUse: row.tokens_in_use,
      })),
    setAdmin: (userId, admin, entry) =>
      changeUser(userId, !admin, (user) => {
        // Asked for twice, it happened once: the trail tells of changes.
        if (user.admin === admin) return;
        setAdmin.run(admin ? 1 : 0, entry.now, userId);
        write(entry);
      }),
    setDisabled: (userId, disabled, entry) =>
      changeUser(userId, disabled, (user) => {
        if ((user.disabledAt !== null) === disabled) return;
        setDisabled.run(disabled ? entry.now : null, entry.now, userId);
        if (disabled) endSessions(userId, null);
        write(entry);
      }),
    deleteUser: (userId, now, entry) =>
      changeUser(userId, true, () => {
        // Read by the room of pushes, whose rows know their owner by this number.
        depart.run(userId, now);
        // Everything else in this room goes with the row (ON DELETE CASCADE).
        remove.run(userId);
        if (entry !== null) write(entry);
      }),
    record: (entry) => db.write(() => write(entry)),
    recordInUnit: write,
    listEntries: (limit, offset) =>
      entries.all(limit, offset).map((row) => ({
        createdAt: row.created_at,
        adminId: row.admin_id,
        adminEmail: row.admin_email,
        action: row.action,
        subject: row.subject,
        address: row.address,
      })),
  };
}
