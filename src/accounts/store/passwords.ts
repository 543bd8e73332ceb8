import type { Database } from "../../db/sqlite.ts";
import type { User } from "../account.ts";
import { prepareEndSessions } from "./end-sessions.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

export interface PasswordChange {
  readonly userId: number;
  /** The hash that the current password was verified against: another one by now, and nothing changes. null: any. */
  readonly from: string | null;
  readonly to: string;
  /** The session that stays; null: none does. */
  readonly keptSessionId: number | null;
  /** The kept session had to be complete and begun after this; null: it does not matter. */
  readonly freshSince: number | null;
  readonly now: number;
  /** Runs in the same unit, before anything is written; false: nothing changes. */
  readonly provided?: () => boolean;
  /** Runs in the same unit, with the user as it was before. */
  readonly onChanged: (user: User) => void;
}

export interface PasswordStore {
  /** `passwordHash` "": there is no password. */
  findPassword(userId: number): { user: User; passwordHash: string } | undefined;
  /** Ends the other sessions and voids every mailed link. false: a guard did not hold. */
  changePassword(change: PasswordChange): Promise<boolean>;
  /** Inside a unit of `db.write`: whether this is the hash that stands. */
  stands(userId: number, passwordHash: string): boolean;
  /** Inside a unit of `db.write`: the same password under another hash. false: another hash stands by now. */
  rehash(userId: number, from: string, to: string, now: number): boolean;
}

export function createPasswordStore(db: Database): PasswordStore {
  type Row = UserRow & { password_hash: string };
  const byId = `SELECT ${userColumns}, password_hash FROM users WHERE id = ?`;
  const find = db.reader.prepare<[number], Row>(byId);
  const findFresh = db.writer.prepare<[number], Row>(byId);
  const freshSession = db.writer.prepare<[number | null, number, number], { id: number }>(
    "SELECT id FROM sessions WHERE id = ? AND user_id = ? AND waits_for_factor = 0 AND created_at > ?",
  );
  const set = db.writer.prepare<[string, number, number]>(
    "UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ?",
  );
  const setFrom = db.writer.prepare<[string, number, number, string]>(
    "UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ? AND password_hash = ?",
  );
  const voidLinks = db.writer.prepare<[number]>("DELETE FROM mailed_links WHERE user_id = ?");
  const endSessions = prepareEndSessions(db);
  return {
    findPassword(userId) {
      const row = find.get(userId);
      return row === undefined ? undefined : { user: toUser(row), passwordHash: row.password_hash };
    },
    changePassword: ({ userId, from, to, keptSessionId, freshSince, now, provided = () => true, onChanged }) =>
      db.write(() => {
        const row = findFresh.get(userId);
        if (row === undefined || (from !== null && row.password_hash !== from)) return false;
        if (freshSince !== null && freshSession.get(keptSessionId, userId, freshSince) === undefined) return false;
        if (!provided()) return false;
        set.run(to, now, userId);
        voidLinks.run(userId);
        endSessions(userId, keptSessionId);
        onChanged(toUser(row));
        return true;
      }),
    stands: (userId, passwordHash) => findFresh.get(userId)?.password_hash === passwordHash,
    rehash: (userId, from, to, now) => setFrom.run(to, now, userId, from).changes === 1,
  };
}
