import type { Database, InTransaction, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { boolean, integer, nullable, type StoredRowOf, Table, text } from "../../database/table.ts";
import type { User } from "../account.ts";
import { users } from "./tables.ts";

/** A `User` as it is read, with two computed columns. */
const userView = new Table("users", {
  id: integer,
  email: text,
  admin: boolean,
  createdAt: integer,
  confirmedAt: nullable(integer),
  disabledAt: nullable(integer),
  language: nullable(text),
  hasPassword: boolean,
  hasSecondFactor: boolean,
});

export type UserRow = StoredRowOf<typeof userView>;

/** For statements that read from `users`, alone or in a join. */
export const userColumns = userView.selectExpressions({
  id: "users.id",
  email: "users.email",
  admin: "users.admin",
  createdAt: "users.created_at",
  confirmedAt: "users.confirmed_at",
  disabledAt: "users.disabled_at",
  language: "users.language",
  hasPassword: "CASE WHEN users.password_hash <> '' THEN 1 ELSE 0 END",
  hasSecondFactor: `CASE WHEN EXISTS (SELECT 1 FROM totp_factors WHERE totp_factors.user_id = users.id)
     OR EXISTS (SELECT 1 FROM passkeys WHERE passkeys.user_id = users.id) THEN 1 ELSE 0 END`,
});

export const userById = sql<[userId: number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
export const userByEmail = sql<[email: string], UserRow>(`SELECT ${userColumns} FROM users WHERE email = ?`);

/** @param row may contain other columns, which are omitted. */
export function toUser(row: UserRow): User {
  const { id, email, admin, createdAt, confirmedAt, disabledAt, language, hasPassword, hasSecondFactor } =
    userView.decode(row);
  return { id, email, admin, createdAt, confirmedAt, disabledAt, language, hasPassword, hasSecondFactor };
}

/** Skips the given number of rows and returns all others. Both engines accept it. */
export const allBeyond = "LIMIT 1000000000 OFFSET ?";

export interface NewUser {
  readonly email: string;
  readonly passwordHash: string;
  readonly admin: boolean;
  /** The email address counts as confirmed. */
  readonly confirmed: boolean;
  readonly language: string | null;
  readonly now: number;
}

const insertRow = users.insert();
const credentialsByEmail = sql<[email: string], UserRow & { passwordHash: string }>(
  `SELECT ${userColumns}, password_hash AS passwordHash FROM users WHERE email = ?`,
);
const everSignedIn = sql<[userId: number], { one: number }>(
  "SELECT 1 AS one FROM users WHERE id = ? AND last_signed_in_at IS NOT NULL",
);

export async function findUserByEmailIn(tx: Transaction, email: string): Promise<User | undefined> {
  const row = await tx.one(userByEmail, email);
  return row === undefined ? undefined : toUser(row);
}

/** Requires the accounts lock. @returns undefined: the email address is taken. */
export async function insertUserIn(tx: Transaction, user: NewUser): Promise<User | undefined> {
  const { email, passwordHash, admin, confirmed, language, now } = user;
  if ((await findUserByEmailIn(tx, email)) !== undefined) return undefined;
  const id = await nextId(tx, "users");
  const confirmedAt = confirmed ? now : null;
  const row = { id, email, passwordHash, admin, language, createdAt: now, updatedAt: now, confirmedAt };
  await tx.run(insertRow, ...users.values(row));
  return findUserByEmailIn(tx, email);
}

export type UserStore = ReturnType<typeof createUserStore>;

/** Functions that take a transaction require the accounts lock; the others read committed rows. */
export function createUserStore(db: Database) {
  return {
    /** @param together written in the same transaction. @returns undefined: the email address is taken. */
    insertUser: (user: NewUser, together?: (made: User) => InTransaction): Promise<User | undefined> =>
      db.writeSerialized("accounts", async (tx) => {
        const made = await insertUserIn(tx, user);
        if (made !== undefined) await together?.(made)(tx);
        return made;
      }),

    insert: insertUserIn,

    findFresh: findUserByEmailIn,

    hasSignedIn: async (tx: Transaction, userId: number) => (await tx.one(everSignedIn, userId)) !== undefined,

    async findUser(userId: number): Promise<User | undefined> {
      const row = await db.read.one(userById, userId);
      return row === undefined ? undefined : toUser(row);
    },

    /** `passwordHash` "": there is no password. */
    async findUserByEmail(email: string): Promise<{ user: User; passwordHash: string } | undefined> {
      const row = await db.read.one(credentialsByEmail, email);
      return row === undefined ? undefined : { user: toUser(row), passwordHash: row.passwordHash };
    },
  };
}

const takeId = sql<[name: string], { nextId: number }>(
  `INSERT INTO id_blocks (name, next_id) VALUES (?, 2)
   ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + 1 RETURNING next_id AS nextId`,
);

/** Ids that people and operators type are assigned one by one and never reused, even after their row is gone. */
export async function nextId(tx: Transaction, name: "users" | "api_tokens" | "sessions" | "passkeys"): Promise<number> {
  const row = await tx.one(takeId, name);
  if (row === undefined) throw new Error("No id was reserved.");
  return row.nextId - 1;
}

const setLanguage = sql<[language: string | null, now: number, userId: number]>(
  "UPDATE users SET language = ?, updated_at = ? WHERE id = ?",
);
const setDefaults = sql<[defaults: string, now: number, userId: number]>(
  "UPDATE users SET push_defaults = ?, updated_at = ? WHERE id = ?",
);
const readProfile = users.pick("pushDefaults", "unconfirmedEmail").select<[userId: number]>("WHERE id = ?");

export type ProfileStore = ReturnType<typeof createProfileStore>;

export function createProfileStore(db: Database) {
  const { read } = db;
  const idempotent = db.autocommit({ retry: "idempotent" });
  return {
    async setLanguage(userId: number, language: string | null, now: number): Promise<void> {
      await idempotent.run(setLanguage, language, now, userId);
    },
    /** As `setPushDefaults` wrote them; null: never set. */
    pushDefaults: async (userId: number) => (await read.one(readProfile, userId))?.pushDefaults ?? null,
    async setPushDefaults(userId: number, defaults: string, now: number): Promise<void> {
      await idempotent.run(setDefaults, defaults, now, userId);
    },
    /** The new address that waits for its confirmation. */
    unconfirmedEmail: async (userId: number) => (await read.one(readProfile, userId))?.unconfirmedEmail ?? null,
  };
}
