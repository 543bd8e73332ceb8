import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, InTransaction, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import type { PasswordSeals } from "./password-seals.ts";
import { users } from "./tables.ts";

const reading = users.reading("createdAt", "language");

export type UserRow = UnopenedRow<typeof reading>;

/** For statements that read from `users`, alone or in a join. */
export const userColumns = reading.selectList;

export const userById = sql<[userId: number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
const userByEmail = sql<[email: string], UserRow>(`SELECT ${userColumns} FROM users WHERE email = ?`);

/**
 * A person. Service accounts count as absent here, so that nothing signs in to one, mails to it or changes it.
 * @param row may contain other columns, which are omitted. @returns undefined: no row, or this server did not write it.
 */
export function openUser(access: AccessKeys, row: UserRow | undefined): User | undefined {
  const user = openTokenUser(access, row);
  return user?.serviceGroupId === undefined ? user : undefined;
}

/** As `openUser`, but also the service account of a group: only tokens act as one. */
export function openTokenUser(access: AccessKeys, row: UserRow | undefined): User | undefined {
  const opened = reading.open(access, row);
  if (opened === undefined) return undefined;
  const { secondFactors, lastSignedOnAt, isUnused, breakGlassAt, serviceGroupId, ...user } = opened;
  return { ...user, hasSecondFactor: secondFactors > 0, ...(serviceGroupId !== null && { serviceGroupId }) };
}

/** When the user last signed in by single sign-on; null: never, or this server did not write the row. */
export function lastSignOnIn(access: AccessKeys, row: UserRow | undefined): number | null {
  return reading.open(access, row)?.lastSignedOnAt ?? null;
}

/** An operator or administrator has made the account, and nobody has signed in to it, made a token for it or imported into it. */
export async function isUnusedIn(connection: ReadConnection, access: AccessKeys, userId: number): Promise<boolean> {
  return reading.open(access, await connection.one(userById, userId))?.isUnused === true;
}

/**
 * The account is kept for the day when the identity provider fails: an operator has made a break-glass link for it. What the provider
 * says (SCIM) must neither show nor change it. True also if this server did not write the row.
 */
export async function isBreakGlassIn(connection: ReadConnection, access: AccessKeys, userId: number): Promise<boolean> {
  const row = await connection.one(userById, userId);
  return row !== undefined && reading.open(access, row)?.breakGlassAt !== null;
}

export async function findUserIn(
  connection: ReadConnection,
  access: AccessKeys,
  userId: number,
): Promise<User | undefined> {
  return openUser(access, await connection.one(userById, userId));
}

const otherAdmins = sql<[userId: number], UserRow>(
  `SELECT ${userColumns} FROM users WHERE admin = 1 AND disabled_at IS NULL AND id <> ?`,
);

/** The administrators who are not disabled, without this user. */
export async function findOtherAdmins(
  connection: ReadConnection,
  access: AccessKeys,
  userId: number,
): Promise<readonly User[]> {
  const rows = await connection.all(otherAdmins, userId);
  return rows.map((row) => openUser(access, row)).filter((user) => user !== undefined);
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
  /** See `isUnusedIn`; false by default. */
  readonly isUnused?: boolean;
  readonly now: number;
}

const insertUser = users.insertion();
const credentialsByEmail = sql<[email: string], UserRow & { passwordSealed: Buffer | null }>(
  `SELECT ${userColumns}, password_sealed AS passwordSealed FROM users WHERE email = ?`,
);
const everSignedIn = sql<[userId: number], { one: number }>(
  "SELECT 1 AS one FROM users WHERE id = ? AND last_signed_in_at IS NOT NULL",
);

export async function findUserByEmailIn(tx: Transaction, access: AccessKeys, email: string): Promise<User | undefined> {
  return openUser(access, await tx.one(userByEmail, email));
}

/** A row that this server did not write takes the address too, and is reported: the column is unique. */
export async function isEmailTaken(tx: Transaction, access: AccessKeys, email: string): Promise<boolean> {
  const row = await tx.one(userByEmail, email);
  openUser(access, row);
  return row !== undefined;
}

/** Costs the same number of reads whether the address is taken. Requires the accounts lock. @returns undefined: it is taken. */
export async function insertUserIn(
  tx: Transaction,
  seals: PasswordSeals,
  random: Random,
  user: NewUser,
): Promise<User | undefined> {
  const { email, passwordHash, admin, confirmed, language, isUnused = false, now } = user;
  const id = await drawUserId(tx, random);
  if (await isEmailTaken(tx, seals.access, email)) return undefined;
  const confirmedAt = confirmed ? now : null;
  const password = seals.columnsOf(id, passwordHash);
  const row = { id, email, ...password, admin, language, createdAt: now, updatedAt: now, confirmedAt, isUnused };
  await insertUser(tx, seals.access, row);
  return findUserByEmailIn(tx, seals.access, email);
}

export type UserStore = ReturnType<typeof createUserStore>;

/** Functions that take a transaction require the accounts lock; the others read committed rows. */
export function createUserStore(db: Database, seals: PasswordSeals, random: Random) {
  const { access } = seals;
  return {
    /** @param together written in the same transaction. @returns undefined: the email address is taken. */
    insertUser: (user: NewUser, together?: (made: User) => InTransaction): Promise<User | undefined> =>
      db.writeSerialized("accounts", async (tx) => {
        const made = await insertUserIn(tx, seals, random, user);
        if (made !== undefined) await together?.(made)(tx);
        return made;
      }),

    insert: (tx: Transaction, user: NewUser) => insertUserIn(tx, seals, random, user),

    findFresh: (tx: Transaction, email: string) => findUserByEmailIn(tx, access, email),

    /** See `isUnusedIn`. */
    isUnused: (userId: number): Promise<boolean> => isUnusedIn(db.read, access, userId),

    /** See `isBreakGlassIn`. */
    isBreakGlass: (userId: number): Promise<boolean> => isBreakGlassIn(db.read, access, userId),

    hasSignedIn: async (tx: Transaction, userId: number) => (await tx.one(everSignedIn, userId)) !== undefined,

    findUser: (userId: number): Promise<User | undefined> => findUserIn(db.read, access, userId),

    /** `passwordHash` "": there is no password. */
    async findUserByEmail(email: string): Promise<{ user: User; passwordHash: string } | undefined> {
      const row = await db.read.one(credentialsByEmail, email);
      const user = openUser(access, row);
      if (row === undefined || user === undefined) return undefined;
      return { user, passwordHash: seals.open(user, row.passwordSealed) };
    },
  };
}

const userIdBytes = 6;
const drawsMax = 8;
const idInUse = sql<[userId: number, userId: number], { one: number }>(
  "SELECT 1 AS one FROM users WHERE id = ? UNION ALL SELECT 1 FROM deleted_users WHERE user_id = ? LIMIT 1",
);

/**
 * Random, so that nobody can get the id of a deleted user: MACs and seals identify a user by it, and a writer of the database
 * could set a counter back. Requires the accounts lock.
 */
export async function drawUserId(tx: Transaction, random: Random): Promise<number> {
  for (let draws = 0; draws < drawsMax; draws += 1) {
    const id = random.bytes(userIdBytes).readUIntBE(0, userIdBytes);
    if ((await tx.one(idInUse, id, id)) === undefined) return id;
  }
  throw new Error("Each user id that was drawn is in use.");
}

/** Requires the accounts lock. */
export async function markUsed(tx: Transaction, access: AccessKeys, userId: number): Promise<void> {
  if (await isUnusedIn(tx, access, userId)) await users.change(tx, access, userId, { isUnused: false });
}

const takeId = sql<[name: string], { nextId: number }>(
  `INSERT INTO id_blocks (name, next_id) VALUES (?, 2)
   ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + 1 RETURNING next_id AS nextId`,
);

/** Ids that people and operators type are assigned one by one and never reused, even after their row is gone. */
export async function nextId(tx: Transaction, name: "api_tokens" | "sessions" | "passkeys"): Promise<number> {
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
const readProfile = users.unverified("pushDefaults", "unconfirmedEmail").select<[userId: number]>("WHERE id = ?");

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
