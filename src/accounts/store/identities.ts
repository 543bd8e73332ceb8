import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { nextId, toUser, type UserRow, userColumns } from "./users.ts";

/** Who a provider says somebody is: the two together are never given to another person. */
export interface IdentityKey {
  readonly issuer: string;
  readonly subject: string;
}

/** One that is linked to an account. */
export interface Identity extends IdentityKey {
  /** Milliseconds since the epoch. */
  readonly linkedAt: number;
}

export interface NewLink extends IdentityKey {
  readonly userId: number;
  readonly now: number;
  /** Whoever asks has shown a second factor, or has a complete session; false: only an account without one takes it. */
  readonly factorShown: boolean;
  readonly perUserMax: number;
}

const userByIdentity = sql<[issuer: string, subject: string], UserRow>(
  `SELECT ${userColumns} FROM identities JOIN users ON users.id = identities.user_id WHERE issuer = ? AND subject = ?`,
);
const identitiesOf = sql<[userId: number], Identity>(
  `SELECT issuer, subject, created_at AS linkedAt FROM identities WHERE user_id = ?
   ORDER BY created_at DESC, issuer, subject`,
);
const ownerOf = sql<[issuer: string, subject: string], { userId: number }>(
  "SELECT user_id AS userId FROM identities WHERE issuer = ? AND subject = ?",
);
const countOf = sql<[userId: number], { identities: number }>(
  "SELECT count(*) AS identities FROM identities WHERE user_id = ?",
);
const insertIdentity = sql<[issuer: string, subject: string, userId: number, createdAt: number]>(
  "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (?, ?, ?, ?)",
);
const removeIdentities = sql<[userId: number]>(
  `DELETE FROM identities WHERE user_id = ?
     AND EXISTS (SELECT 1 FROM users WHERE users.id = identities.user_id AND password_hash <> '')`,
);
const anybody = sql<[], { id: number }>("SELECT id FROM users LIMIT 1");
const userByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const userById = sql<[userId: number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
const insertUser = sql<[id: number, email: string, createdAt: number, updatedAt: number, confirmedAt: number]>(
  `INSERT INTO users (id, email, password_hash, admin, created_at, updated_at, confirmed_at)
   VALUES (?, ?, '', 0, ?, ?, ?)`,
);

export type IdentityStore = ReturnType<typeof createIdentityStore>;

export function createIdentityStore(db: Database) {
  return {
    async findUserByIdentity({ issuer, subject }: IdentityKey): Promise<User | undefined> {
      const row = await db.read.one(userByIdentity, issuer, subject);
      return row === undefined ? undefined : toUser(row);
    },
    /** The newest first. */
    listIdentities: (userId: number): Promise<readonly Identity[]> => db.read.all(identitiesOf, userId),
    /** A confirmed account without a password, and its identity. Never the first account of a server. */
    insertUserWithIdentity: ({
      issuer,
      subject,
      email,
      now,
    }: IdentityKey & { email: string; now: number }): Promise<
      User | "email_taken" | "identity_taken" | "no_users_yet"
    > =>
      db.writeSerialized("accounts", async (tx) => {
        if ((await tx.one(ownerOf, issuer, subject)) !== undefined) return "identity_taken";
        const user = await insertConfirmed(tx, email, now);
        if (typeof user === "object") await tx.run(insertIdentity, issuer, subject, user.id, now);
        return user;
      }),
    /** In a transaction of the accounts' turn. "taken": it is another account's. */
    linkIdentity,
    /** In a transaction of the accounts' turn: still this user's. */
    isIdentityOf: async (tx: Transaction, { issuer, subject }: IdentityKey, userId: number): Promise<boolean> =>
      (await tx.one(ownerOf, issuer, subject))?.userId === userId,
    /** All of them. false: nothing was linked, or there is no password to sign in by instead. */
    deleteIdentities: async (tx: Transaction, userId: number): Promise<boolean> =>
      (await tx.run(removeIdentities, userId)) > 0,
  };
}

async function linkIdentity(tx: Transaction, link: NewLink): Promise<"linked" | "linked_before" | "taken" | "refused"> {
  const { issuer, subject, userId, now, factorShown, perUserMax } = link;
  const row = await tx.one(userById, userId);
  const user = row === undefined ? undefined : toUser(row);
  if (user === undefined || user.disabledAt !== null || (user.hasSecondFactor && !factorShown)) return "refused";
  const owner = await tx.one(ownerOf, issuer, subject);
  if (owner !== undefined) return owner.userId === userId ? "linked_before" : "taken";
  if (((await tx.one(countOf, userId))?.identities ?? 0) >= perUserMax) return "refused";
  await tx.run(insertIdentity, issuer, subject, userId, now);
  return "linked";
}

async function insertConfirmed(
  tx: Transaction,
  email: string,
  now: number,
): Promise<User | "email_taken" | "no_users_yet"> {
  // The first account has to be an administrator's, made against the boot code: with another one there first, none could be.
  if ((await tx.one(anybody)) === undefined) return "no_users_yet";
  if ((await tx.one(userByEmail, email)) !== undefined) return "email_taken";
  const id = await nextId(tx, "users");
  await tx.run(insertUser, id, email, now, now, now);
  const row = await tx.one(userById, id);
  if (row === undefined) throw new Error("The user was not stored.");
  return toUser(row);
}
