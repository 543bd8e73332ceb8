import type { Database } from "../../db/sqlite.ts";
import type { User } from "../account.ts";
import { countedIds } from "./counted-ids.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

/** Reads answer from what is durable; writes settle once they are. */
export interface UserStore {
  /** undefined: the e-mail is taken. */
  insertUser(user: { email: string; passwordHash: string; admin: boolean; now: number }): Promise<User | undefined>;
  findUser(userId: number): User | undefined;
  /** `passwordHash` "": there is no password. */
  findUserByEmail(email: string): { user: User; passwordHash: string } | undefined;
}

export function createUserStore(db: Database): UserStore {
  const nextId = countedIds(db);
  const taken = db.writer.prepare<[string], { id: number }>("SELECT id FROM users WHERE email = ?");
  const insert = db.writer.prepare<[number, string, string, number, number, number, number]>(
    `INSERT INTO users (id, email, password_hash, admin, created_at, updated_at, confirmed_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const fresh = db.writer.prepare<[number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
  const byId = db.reader.prepare<[number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
  const byEmail = db.reader.prepare<[string], UserRow & { password_hash: string }>(
    `SELECT ${userColumns}, password_hash FROM users WHERE email = ?`,
  );
  return {
    insertUser: ({ email, passwordHash, admin, now }) =>
      db.write(() => {
        if (taken.get(email) !== undefined) return undefined;
        const id = nextId("users");
        insert.run(id, email, passwordHash, admin ? 1 : 0, now, now, now);
        const row = fresh.get(id);
        return row === undefined ? undefined : toUser(row);
      }),
    findUser(userId) {
      const row = byId.get(userId);
      return row === undefined ? undefined : toUser(row);
    },
    findUserByEmail(email) {
      const row = byEmail.get(email);
      return row === undefined ? undefined : { user: toUser(row), passwordHash: row.password_hash };
    },
  };
}
