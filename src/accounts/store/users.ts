import type { Database } from "../../db/sqlite.ts";
import type { User } from "../account.ts";
import { countedIds } from "./counted-ids.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

export interface NewUser {
  readonly email: string;
  readonly passwordHash: string;
  readonly admin: boolean;
  /** The e-mail is proven. */
  readonly confirmed: boolean;
  readonly language: string | null;
  readonly now: number;
}

/** Reads answer from what is durable; writes settle once they are. */
export interface UserStore {
  /** undefined: the e-mail is taken. */
  insertUser(user: NewUser): Promise<User | undefined>;
  /** Inside a unit of `db.write`, else as `insertUser`. */
  insert(user: NewUser): User | undefined;
  /** Inside a unit of `db.write`. */
  findFresh(email: string): User | undefined;
  /** Inside a unit of `db.write`. */
  hasSignedIn(userId: number): boolean;
  /** Whether anybody has an account, in whatever state; inside a unit of `db.write`. */
  isInhabited(): boolean;
  /** As `isInhabited`, of what is durable. */
  wasInhabited(): boolean;
  findUser(userId: number): User | undefined;
  /** `passwordHash` "": there is no password. */
  findUserByEmail(email: string): { user: User; passwordHash: string } | undefined;
}

export function createUserStore(db: Database): UserStore {
  const nextId = countedIds(db);
  const insertRow = db.writer.prepare<[number, string, string, number, number, number, number | null, string | null]>(
    `INSERT INTO users (id, email, password_hash, admin, created_at, updated_at, confirmed_at, language)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const anyUser = "SELECT 1 AS one FROM users LIMIT 1";
  const any = db.writer.prepare<[], { one: number }>(anyUser);
  const anyDurable = db.reader.prepare<[], { one: number }>(anyUser);
  const freshByEmail = db.writer.prepare<[string], UserRow>(`SELECT ${userColumns} FROM users WHERE email = ?`);
  const byId = db.reader.prepare<[number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
  const byEmail = db.reader.prepare<[string], UserRow & { password_hash: string }>(
    `SELECT ${userColumns}, password_hash FROM users WHERE email = ?`,
  );

  const signedIn = db.writer.prepare<[number], { id: number }>(
    "SELECT id FROM users WHERE id = ? AND last_signed_in_at IS NOT NULL",
  );

  function findFresh(email: string): User | undefined {
    const row = freshByEmail.get(email);
    return row === undefined ? undefined : toUser(row);
  }

  function insert({ email, passwordHash, admin, confirmed, language, now }: NewUser): User | undefined {
    if (findFresh(email) !== undefined) return undefined;
    const confirmedAt = confirmed ? now : null;
    insertRow.run(nextId("users"), email, passwordHash, admin ? 1 : 0, now, now, confirmedAt, language);
    return findFresh(email);
  }

  return {
    insertUser: (user) => db.write(() => insert(user)),
    insert,
    findFresh,
    hasSignedIn: (userId) => signedIn.get(userId) !== undefined,
    isInhabited: () => any.get() !== undefined,
    wasInhabited: () => anyDurable.get() !== undefined,
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
