import { normalizeEmail } from "../../base/email.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { removeMailedLinks } from "./mailed-links.ts";
import { identities, scimUsers, users } from "./tables.ts";
import { isEmailTaken } from "./users.ts";

/** See the table. */
interface ScimRow {
  readonly id: number;
  readonly userName: string;
  readonly nameKey: string;
  readonly externalId: string | null;
  readonly isMade: boolean;
  readonly isDeleted: boolean;
  readonly hasDisabled: boolean;
  readonly hasGivenAddress: boolean;
}

/** An account as SCIM sees it. Times in milliseconds since the epoch. */
export interface ScimAccount {
  readonly id: number;
  readonly email: string;
  readonly admin: boolean;
  readonly disabledAt: number | null;
  readonly isUnused: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** undefined: SCIM has said nothing about the account. */
  readonly said: ScimRow | undefined;
  /** The subjects and object ids of its identities of the issuer: what its own sign-ons have proved. */
  readonly provedIds: readonly string[];
  /** Otherwise the account does not exist for SCIM. */
  readonly isVisible: boolean;
  /** SCIM must not show or change the account, see `isBreakGlassIn`. */
  readonly isBreakGlass: boolean;
}

const userReading = users.reading("createdAt", "updatedAt");
const scimReading = scimUsers.reading();
const identityReading = identities.reading();
type UserRow = UnopenedRow<typeof userReading>;

const isVisible = `users.break_glass_at IS NULL AND (scim_users.is_deleted IS NULL OR scim_users.is_deleted = 0)
  AND (scim_users.is_made = 1
    OR EXISTS (SELECT 1 FROM identities WHERE identities.user_id = users.id AND identities.issuer IN (?, ?)))`;
const joined = "FROM users LEFT JOIN scim_users ON scim_users.id = users.id";
type Issuers = readonly [issuer: string, withSlash: string];
const visiblePage = sql<[...Issuers, limit: number, offset: number], UserRow>(
  `SELECT ${userReading.selectList} ${joined} WHERE ${isVisible} ORDER BY users.id LIMIT ? OFFSET ?`,
);
const countVisible = sql<[...Issuers], { count: number }>(`SELECT count(*) AS count ${joined} WHERE ${isVisible}`);
const userById = sql<[userId: number], UserRow>(`SELECT ${userReading.selectList} FROM users WHERE id = ?`);
const saidBetween = sql<[first: number, last: number], UnopenedRow<typeof scimReading>>(
  `SELECT ${scimReading.selectList} FROM scim_users WHERE id >= ? AND id <= ?`,
);
const identitiesBetween = sql<[...Issuers, first: number, last: number], UnopenedRow<typeof identityReading>>(
  `SELECT ${identityReading.selectList} FROM identities WHERE issuer IN (?, ?) AND user_id >= ? AND user_id <= ?`,
);
const named = sql<[nameKey: string, email: string], { id: number }>(
  "SELECT id FROM scim_users WHERE name_key = ? UNION SELECT id FROM users WHERE email = ?",
);
const byExternalId = sql<[externalId: string], { id: number }>("SELECT id FROM scim_users WHERE external_id = ?");
const byEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const otherOfName = sql<[nameKey: string, id: number], { one: number }>(
  "SELECT 1 AS one FROM scim_users WHERE name_key = ? AND is_deleted = 0 AND id <> ? LIMIT 1",
);
const insertSaid = scimUsers.insertion();
const removeSaid = sql<[userId: number]>("DELETE FROM scim_users WHERE id = ?");

/** User names that differ in nothing else than this are the same (RFC 7643, section 4.1.1). */
export function nameKeyOf(userName: string): string {
  return normalizeEmail(userName) ?? userName.trim().toLowerCase().normalize("NFC");
}

/** A person who signs on, as the provider says. */
interface SignedOn {
  readonly subject: string;
  readonly objectId: string | undefined;
  readonly verifiedEmail: string | undefined;
}

function isFree(account: ScimAccount | undefined): account is ScimAccount {
  return account?.isUnused === true && account.disabledAt === null;
}

/** Threat: a thief of the SCIM token names themselves as the person of an account that an administrator has promoted. */
const isForScim = ({ isVisible, admin }: ScimAccount) => isVisible && !admin;

export type ScimStore = ReturnType<typeof createScimStore>;

function createReads(access: AccessKeys, issuers: Issuers) {
  /** @param rows in the order of their ids. */
  async function complete(connection: ReadConnection, rows: readonly UserRow[]): Promise<readonly ScimAccount[]> {
    const [first, last] = [rows[0]?.userId, rows.at(-1)?.userId];
    if (first === undefined || last === undefined) return [];
    const said = scimReading.openAll(access, await connection.all(saidBetween, first, last));
    const linked = identityReading.openAll(access, await connection.all(identitiesBetween, ...issuers, first, last));
    return userReading.openAll(access, rows).map((user) => {
      const about = said.find(({ id }) => id === user.id);
      const own = linked.filter(({ userId }) => userId === user.id);
      const provedIds = own.flatMap(({ subject, objectId }) => [subject, objectId]).filter((id) => id !== null);
      const isBreakGlass = user.breakGlassAt !== null;
      const isKnown = about?.isMade === true || own.length > 0;
      return {
        ...user,
        said: about,
        provedIds,
        isBreakGlass,
        isVisible: isKnown && !isBreakGlass && !about?.isDeleted,
      };
    });
  }

  async function find(connection: ReadConnection, userId: number): Promise<ScimAccount | undefined> {
    return (await complete(connection, await connection.all(userById, userId)))[0];
  }

  async function findByName(connection: ReadConnection, userName: string): Promise<ScimAccount | undefined> {
    const key = nameKeyOf(userName);
    for (const { id } of await connection.all(named, key, key)) {
      const account = await find(connection, id);
      if (account?.isVisible && (account.said?.nameKey ?? account.email) === key) return account;
    }
    return undefined;
  }

  async function findByExternalId(connection: ReadConnection, externalId: string): Promise<ScimAccount | undefined> {
    const owner = await connection.one(byExternalId, externalId);
    return owner === undefined ? undefined : find(connection, owner.id);
  }

  return { complete, find, findByName, findByExternalId };
}

/** Functions that take a transaction require the accounts lock. @param issuer of single sign-on; undefined: it is off. */
export function createScimStore(access: AccessKeys, issuer: string | undefined) {
  // A provider may or may not write the slash at the end.
  const bare = issuer?.replace(/\/$/, "") ?? "";
  const issuers: Issuers = [bare, `${bare}/`];
  const { complete, find, findByName, findByExternalId } = createReads(access, issuers);

  return {
    find,
    findByName,
    findByExternalId,

    /**
     * The account that a person gets at the first sign-on without a question, since nobody has used it: SCIM has named the person, or an
     * operator or administrator has made it for the proven address.
     */
    async findUnused(connection: ReadConnection, person: SignedOn): Promise<number | undefined> {
      const { subject, objectId, verifiedEmail } = person;
      const externalIds = [objectId, subject].filter((id) => id !== undefined);
      for (const externalId of externalIds) {
        const account = await findByExternalId(connection, externalId);
        if (isFree(account) && isForScim(account)) return account.id;
      }
      if (verifiedEmail === undefined) return undefined;
      const named = await findByName(connection, verifiedEmail);
      if (isFree(named) && isForScim(named)) return named.id;
      const owner = await connection.one(byEmail, verifiedEmail);
      const account = owner === undefined ? undefined : await find(connection, owner.id);
      // SCIM may have given the name to another account.
      return isFree(account) && (account.said?.nameKey ?? verifiedEmail) === verifiedEmail ? account.id : undefined;
    },

    /** The visible accounts, in a lasting order, and how many there are in all. */
    async list(connection: ReadConnection, { skipped, usersMax }: { skipped: number; usersMax: number }) {
      const total = (await connection.one(countVisible, ...issuers))?.count ?? 0;
      const rows = usersMax === 0 ? [] : await connection.all(visiblePage, ...issuers, usersMax, skipped);
      return { total, accounts: (await complete(connection, rows)).filter((account) => account.isVisible) };
    },

    /** Includes rows that this server did not write: the column is unique. */
    ownerOfExternalId: async (tx: Transaction, externalId: string) => (await tx.one(byExternalId, externalId))?.id,

    async ownerOfEmail(tx: Transaction, email: string): Promise<number | undefined> {
      // Reports a row that this server did not write.
      return (await isEmailTaken(tx, access, email)) ? (await tx.one(byEmail, email))?.id : undefined;
    },

    /** Whether another user of SCIM has the name. @param userId 0: a new one. */
    isNameTaken: async (tx: Transaction, nameKey: string, userId: number): Promise<boolean> =>
      (await tx.one(otherOfName, nameKey, userId)) !== undefined,

    /** Links that were mailed to the old address end. */
    async changeEmail(tx: Transaction, userId: number, email: string, now: number): Promise<void> {
      await users.change(tx, access, userId, { email, unconfirmedEmail: null, updatedAt: now });
      await tx.run(removeMailedLinks, userId);
    },

    async write(tx: Transaction, account: ScimAccount, said: Omit<ScimRow, "id" | "nameKey">): Promise<void> {
      const row = { ...said, nameKey: nameKeyOf(said.userName) };
      if (account.said !== undefined) {
        await scimUsers.change(tx, access, account.id, row);
        return;
      }
      // There may be a row that this server did not write.
      await tx.run(removeSaid, account.id);
      await insertSaid(tx, access, { id: account.id, ...row });
    },
  };
}

const saidById = sql<[userId: number], UnopenedRow<typeof scimReading>>(
  `SELECT ${scimReading.selectList} FROM scim_users WHERE id = ?`,
);

/** Read in a fixed number of statements, also for the id of nobody. @returns false for a row that this server did not write. */
export async function hasAddressByScim(tx: Transaction, access: AccessKeys, userId: number): Promise<boolean> {
  return scimReading.open(access, await tx.one(saidById, userId))?.hasGivenAddress === true;
}

/** An administrator decides about the account from now on. @returns whether SCIM had disabled it. */
export async function takeOverFromScim(tx: Transaction, access: AccessKeys, userId: number): Promise<boolean> {
  if (scimReading.open(access, await tx.one(saidById, userId))?.hasDisabled !== true) return false;
  return scimUsers.change(tx, access, userId, { hasDisabled: false });
}
