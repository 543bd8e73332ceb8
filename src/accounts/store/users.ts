import type { Database, InTransaction, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { nextId } from "./counted-ids.ts";
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

/** What takes a transaction belongs into one of the accounts' turn, and sees what is so there; the rest reads what is durable. */
export interface UserStore {
  /** undefined: the e-mail is taken. @param together written with the user. */
  insertUser(user: NewUser, together?: (made: User) => InTransaction): Promise<User | undefined>;
  insert(tx: Transaction, user: NewUser): Promise<User | undefined>;
  findFresh(tx: Transaction, email: string): Promise<User | undefined>;
  hasSignedIn(tx: Transaction, userId: number): Promise<boolean>;
  /** Whether anybody has an account, in whatever state. */
  isInhabited(tx: Transaction): Promise<boolean>;
  /** As `isInhabited`, of what is durable. */
  wasInhabited(): Promise<boolean>;
  findUser(userId: number): Promise<User | undefined>;
  /** `passwordHash` "": there is no password. */
  findUserByEmail(email: string): Promise<{ user: User; passwordHash: string } | undefined>;
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

const isInhabited = async (reading: ReadConnection) => (await reading.one(anyUser)) !== undefined;

export function createUserStore(db: Database): UserStore {
  return {
    insertUser: (user, together) =>
      db.writeSerialized("accounts", async (tx) => {
        const made = await insert(tx, user);
        if (made !== undefined) await together?.(made)(tx);
        return made;
      }),
    insert,
    findFresh,
    hasSignedIn: async (tx, userId) => (await tx.one(everSignedIn, userId)) !== undefined,
    isInhabited,
    wasInhabited: () => isInhabited(db.read),
    async findUser(userId) {
      const row = await db.read.one(byId, userId);
      return row === undefined ? undefined : toUser(row);
    },
    async findUserByEmail(email) {
      const row = await db.read.one(byEmail, email);
      return row === undefined ? undefined : { user: toUser(row), passwordHash: row.password_hash };
    },
  };
}
