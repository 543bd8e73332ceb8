import type { Database, InTransaction, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";

export interface UserRow {
  user_id: number;
  email: string;
  admin: number;
  user_created_at: number;
  confirmed_at: number | null;
  disabled_at: number | null;
  language: string | null;
  has_password: number;
  has_second_factor: number;
}

/** Of a statement that reads from `users`. */
export const userColumns = `users.id AS user_id, email, admin, users.created_at AS user_created_at, users.confirmed_at,
  disabled_at, language, CASE WHEN users.password_hash <> '' THEN 1 ELSE 0 END AS has_password,
  CASE WHEN EXISTS (SELECT 1 FROM totp_factors WHERE totp_factors.user_id = users.id)
   OR EXISTS (SELECT 1 FROM passkeys WHERE passkeys.user_id = users.id) THEN 1 ELSE 0 END AS has_second_factor`;

/** All rows but the first ones, in messages that both engines have. */
export const allBeyond = "LIMIT 1000000000 OFFSET ?";

export function toUser(row: UserRow): User {
  return {
    id: row.user_id,
    email: row.email,
    admin: row.admin === 1,
    createdAt: row.user_created_at,
    confirmedAt: row.confirmed_at,
    disabledAt: row.disabled_at,
    language: row.language,
    hasPassword: row.has_password === 1,
    hasSecondFactor: row.has_second_factor === 1,
  };
}

export interface NewUser {
  readonly email: string;
  readonly passwordHash: string;
  readonly admin: boolean;
  /** The e-mail is proven. */
  readonly confirmed: boolean;
  readonly language: string | null;
  readonly now: number;
}

const insertRow = sql<
  [
    id: number,
    email: string,
    passwordHash: string,
    admin: number,
    createdAt: number,
    updatedAt: number,
    confirmedAt: number | null,
    language: string | null,
  ]
>(
  `INSERT INTO users (id, email, password_hash, admin, created_at, updated_at, confirmed_at, language)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const anyUser = sql<[], { one: number }>("SELECT 1 AS one FROM users LIMIT 1");
const byId = sql<[userId: number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
const byEmail = sql<[email: string], UserRow & { password_hash: string }>(
  `SELECT ${userColumns}, password_hash FROM users WHERE email = ?`,
);
const everSignedIn = sql<[userId: number], { one: number }>(
  "SELECT 1 AS one FROM users WHERE id = ? AND last_signed_in_at IS NOT NULL",
);

async function findFresh(tx: Transaction, email: string): Promise<User | undefined> {
  const row = await tx.one(byEmail, email);
  return row === undefined ? undefined : toUser(row);
}

async function insert(tx: Transaction, user: NewUser): Promise<User | undefined> {
  const { email, passwordHash, admin, confirmed, language, now } = user;
  if ((await findFresh(tx, email)) !== undefined) return undefined;
  const id = await nextId(tx, "users");
  await tx.run(insertRow, id, email, passwordHash, admin ? 1 : 0, now, now, confirmed ? now : null, language);
  return findFresh(tx, email);
}

const hasAnyUser = async (reading: ReadConnection) => (await reading.one(anyUser)) !== undefined;

export type UserStore = ReturnType<typeof createUserStore>;

/** What takes a transaction belongs into one of the accounts' turn, and sees what is so there; the rest reads what is durable. */
export function createUserStore(db: Database) {
  return {
    /** undefined: the e-mail is taken. @param together written with the user. */
    insertUser: (user: NewUser, together?: (made: User) => InTransaction): Promise<User | undefined> =>
      db.writeSerialized("accounts", async (tx) => {
        const made = await insert(tx, user);
        if (made !== undefined) await together?.(made)(tx);
        return made;
      }),
    insert,
    findFresh,
    hasSignedIn: async (tx: Transaction, userId: number): Promise<boolean> =>
      (await tx.one(everSignedIn, userId)) !== undefined,
    /** Whether anybody has an account, in whatever state. */
    hasAnyUser,
    /** As `hasAnyUser`, of what is durable. */
    hadAnyUser: (): Promise<boolean> => hasAnyUser(db.read),
    async findUser(userId: number): Promise<User | undefined> {
      const row = await db.read.one(byId, userId);
      return row === undefined ? undefined : toUser(row);
    },
    /** `passwordHash` "": there is no password. */
    async findUserByEmail(email: string): Promise<{ user: User; passwordHash: string } | undefined> {
      const row = await db.read.one(byEmail, email);
      return row === undefined ? undefined : { user: toUser(row), passwordHash: row.password_hash };
    },
  };
}

type Counted = "users" | "api_tokens" | "sessions" | "passkeys";

const takeId = sql<[name: string], { nextId: number }>(
  `INSERT INTO id_blocks (name, next_id) VALUES (?, 2)
   ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + 1 RETURNING next_id AS nextId`,
);

/** Ids of what people and operators name by hand are counted one by one; none is given twice, even when its row goes. */
export async function nextId(tx: Transaction, name: Counted): Promise<number> {
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
const readProfile = sql<[userId: number], { pushDefaults: string | null; unconfirmedEmail: string | null }>(
  "SELECT push_defaults AS pushDefaults, unconfirmed_email AS unconfirmedEmail FROM users WHERE id = ?",
);

export type ProfileStore = ReturnType<typeof createProfileStore>;

export function createProfileStore(db: Database) {
  const { read } = db;
  const idempotent = db.autocommit({ retry: "idempotent" });
  return {
    async setLanguage(userId: number, language: string | null, now: number): Promise<void> {
      await idempotent.run(setLanguage, language, now, userId);
    },
    /** As `setPushDefaults` wrote them; null: never. */
    pushDefaults: async (userId: number): Promise<string | null> =>
      (await read.one(readProfile, userId))?.pushDefaults ?? null,
    async setPushDefaults(userId: number, defaults: string, now: number): Promise<void> {
      await idempotent.run(setDefaults, defaults, now, userId);
    },
    /** An address that somebody asked to move to and has not confirmed. */
    unconfirmedEmail: async (userId: number): Promise<string | null> =>
      (await read.one(readProfile, userId))?.unconfirmedEmail ?? null,
  };
}
