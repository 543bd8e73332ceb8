import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, InTransaction, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { isFirstRunOver } from "./first-run.ts";
import { removeMailedLinks } from "./mailed-links.ts";
import type { PasswordSeals } from "./password-seals.ts";
import { identities, users } from "./tables.ts";
import { findUserIn, insertUserIn } from "./users.ts";

/** Identifies a person at a provider. The pair is never assigned to another person. */
export interface IdentityKey {
  readonly issuer: string;
  readonly subject: string;
}

/** An identity that is linked to an account. */
export interface Identity extends IdentityKey {
  /** Milliseconds since the epoch. */
  readonly linkedAt: number;
  /** Microsoft's `oid` at the last sign-on; null: there was none. */
  readonly objectId: string | null;
}

export interface NewLink extends IdentityKey {
  readonly userId: number;
  readonly now: number;
  /** The user has shown a second factor or has a complete session. false: refused for an account with a second factor. */
  readonly factorShown: boolean;
  readonly perUserMax: number;
}

const reading = identities.reading("createdAt");
type Row = UnopenedRow<typeof reading>;

const identitiesOf = sql<[userId: number], Row>(
  `SELECT ${reading.selectList} FROM identities WHERE user_id = ? ORDER BY created_at DESC, issuer, subject`,
);
const byKey = sql<[issuer: string, subject: string], Row>(
  `SELECT ${reading.selectList} FROM identities WHERE issuer = ? AND subject = ?`,
);
const countOf = sql<[userId: number], { identities: number }>(
  "SELECT count(*) AS identities FROM identities WHERE user_id = ?",
);
const insertIdentity = identities.insertion();
const removeIdentities = sql<[userId: number]>(
  `DELETE FROM identities WHERE user_id = ?
     AND EXISTS (SELECT 1 FROM users WHERE users.id = identities.user_id AND has_password = 1)`,
);
const movingBy = sql<[issuer: string, objectId: string], Row>(
  `SELECT ${reading.selectList} FROM identities WHERE issuer = ? AND object_id = ? AND moves_by_object_id = 1`,
);
const identitiesOfIssuer = sql<[issuer: string, withSlash: string], Row>(
  `SELECT ${reading.selectList} FROM identities WHERE issuer IN (?, ?) ORDER BY created_at, subject`,
);
const removeIdentity = sql<[issuer: string, subject: string]>(
  "DELETE FROM identities WHERE issuer = ? AND subject = ?",
);

export type IdentityStore = ReturnType<typeof createIdentityStore>;

export function createIdentityStore(db: Database, seals: PasswordSeals, random: Random) {
  const { access } = seals;
  return {
    async findUserByIdentity({ issuer, subject }: IdentityKey): Promise<User | undefined> {
      const owner = await findOwner(db.read, access, { issuer, subject });
      return owner === undefined ? undefined : findUserIn(db.read, access, owner);
    },
    /** Newest first. */
    listIdentities: async (userId: number): Promise<readonly Identity[]> =>
      reading
        .openAll(access, await db.read.all(identitiesOf, userId))
        .map(({ createdAt: linkedAt, issuer, subject, objectId }) => ({ issuer, subject, linkedAt, objectId })),
    /** Creates a confirmed account without a password, and its identity. Never the first account of a server. */
    insertUserWithIdentity: ({
      issuer,
      subject,
      email,
      now,
    }: IdentityKey & { email: string; now: number }): Promise<
      User | "email_taken" | "identity_taken" | "no_users_yet"
    > =>
      db.writeSerialized("accounts", async (tx) => {
        if ((await tx.one(byKey, issuer, subject)) !== undefined) return "identity_taken";
        const user = await insertConfirmed(tx, seals, random, { email, now });
        if (typeof user === "object") {
          await insertIdentity(tx, access, { issuer, subject, userId: user.id, createdAt: now });
        }
        return user;
      }),
    /**
     * Links an identity to an account that nobody has used. A password that its maker chose signs in no more.
     * @param find the id of the account. @param email that the provider proves; undefined: none.
     * @returns undefined: the account has been used or changed meanwhile, or the identity is linked.
     */
    linkUnused: (
      { issuer, subject, email, now }: IdentityKey & { email: string | undefined; now: number },
      find: (tx: Transaction) => Promise<number | undefined>,
      together: (user: User) => InTransaction,
    ): Promise<User | undefined> =>
      db.writeSerialized("accounts", async (tx) => {
        const userId = await find(tx);
        const user = userId === undefined ? undefined : await findUserIn(tx, access, userId);
        if (user === undefined || user.disabledAt !== null) return undefined;
        const link = { issuer, subject, userId: user.id, now, factorShown: true, perUserMax: 1 };
        if ((await linkIdentity(tx, access, link)) !== "linked") return undefined;
        const withoutPassword = seals.columnsOf(user.id, "");
        await users.change(tx, access, user.id, {
          ...withoutPassword,
          isUnused: false,
          confirmedAt: user.email === email ? now : user.confirmedAt,
          updatedAt: now,
        });
        await tx.run(removeMailedLinks, user.id);
        await together(user)(tx);
        return findUserIn(tx, access, user.id);
      }),
    /** Requires the accounts lock. "taken": it is linked to another account. */
    linkIdentity: (tx: Transaction, link: NewLink) => linkIdentity(tx, access, link),
    /** Whether the identity is still linked to this user. */
    isIdentityOf: async (tx: Transaction, key: IdentityKey, userId: number): Promise<boolean> =>
      (await findOwner(tx, access, key)) === userId,
    /** Removes all identities of the user. @returns false: there was none, or the account has no password to sign in with. */
    deleteIdentities: async (tx: Transaction, userId: number): Promise<boolean> =>
      (await tx.run(removeIdentities, userId)) > 0,
  };
}

/** The setting may end in a slash where the provider's own spelling does not, and the reverse. */
function spellings(issuer: string): [string, string] {
  const bare = issuer.replace(/\/$/, "");
  return [bare, `${bare}/`];
}

/** Replaces the row. Requires the accounts lock. */
async function replaceIdentity(
  tx: Transaction,
  access: AccessKeys,
  before: NonNullable<ReturnType<typeof reading.open>>,
  changes: { readonly subject?: string; readonly objectId?: string; readonly movesByObjectId?: boolean },
): Promise<void> {
  const { issuer, subject, userId, objectId, movesByObjectId, createdAt } = before;
  await tx.run(removeIdentity, issuer, subject);
  await insertIdentity(tx, access, { issuer, subject, userId, objectId, movesByObjectId, createdAt, ...changes });
}

/**
 * Microsoft gives a person another subject at every client id: moves identities to the new ones by the object id, once an operator has
 * allowed it.
 */
export function createRelinking(db: Database, access: AccessKeys) {
  const openRow = (row: Row | undefined) => reading.open(access, row);
  return {
    /** Keeps the object id of an identity. Requires the accounts lock. */
    async noteObjectId(tx: Transaction, { issuer, subject }: IdentityKey, objectId: string): Promise<void> {
      const row = openRow(await tx.one(byKey, issuer, subject));
      if (row !== undefined && row.objectId !== objectId) await replaceIdentity(tx, access, row, { objectId });
    },
    ofIssuer: async (issuer: string) =>
      reading.openAll(access, await db.read.all(identitiesOfIssuer, ...spellings(issuer))),
    /** Requires the accounts lock. @returns how many identities may move. */
    async allowMoves(tx: Transaction, issuer: string): Promise<number> {
      const known = reading
        .openAll(access, await tx.all(identitiesOfIssuer, ...spellings(issuer)))
        .filter(({ objectId }) => objectId !== null);
      for (const identity of known) await replaceIdentity(tx, access, identity, { movesByObjectId: true });
      return known.length;
    },
    /**
     * Gives the identity with this object id the new subject. @param together written in the same transaction.
     * @returns undefined: there is none that may move, it belongs to several accounts, or to one that may not sign in.
     */
    move: (
      { issuer, subject, objectId }: IdentityKey & { readonly objectId: string },
      together: (user: User) => InTransaction,
    ): Promise<User | undefined> =>
      db.writeSerialized("accounts", async (tx) => {
        if ((await tx.one(byKey, issuer, subject)) !== undefined) return undefined;
        const rows = reading.openAll(access, await tx.all(movingBy, issuer, objectId));
        const [newest] = rows.toSorted((a, b) => b.createdAt - a.createdAt);
        const user = newest === undefined ? undefined : await findUserIn(tx, access, newest.userId);
        if (newest === undefined || user === undefined || user.disabledAt !== null) return undefined;
        if (rows.some(({ userId }) => userId !== user.id)) return undefined;
        await replaceIdentity(tx, access, newest, { subject, movesByObjectId: false });
        await together(user)(tx);
        return user;
      }),
  };
}

export type Relinking = ReturnType<typeof createRelinking>;

/** @returns the id of its user; undefined: it is linked to no account. */
async function findOwner(connection: ReadConnection, access: AccessKeys, { issuer, subject }: IdentityKey) {
  return reading.open(access, await connection.one(byKey, issuer, subject))?.userId;
}

async function linkIdentity(
  tx: Transaction,
  access: AccessKeys,
  link: NewLink,
): Promise<"linked" | "linked_before" | "taken" | "refused"> {
  const { issuer, subject, userId, now, factorShown, perUserMax } = link;
  const user = await findUserIn(tx, access, userId);
  if (user === undefined || user.disabledAt !== null || (user.hasSecondFactor && !factorShown)) return "refused";
  // A row that this server did not write counts too: the columns are unique.
  if ((await tx.one(byKey, issuer, subject)) !== undefined) {
    return (await findOwner(tx, access, link)) === userId ? "linked_before" : "taken";
  }
  if (((await tx.one(countOf, userId))?.identities ?? 0) >= perUserMax) return "refused";
  await insertIdentity(tx, access, { issuer, subject, userId, createdAt: now });
  return "linked";
}

async function insertConfirmed(
  tx: Transaction,
  seals: PasswordSeals,
  random: Random,
  { email, now }: { readonly email: string; readonly now: number },
): Promise<User | "email_taken" | "no_users_yet"> {
  // The first account has to be an administrator's, created with the boot code. Any other one would make that impossible.
  if (!(await isFirstRunOver(tx))) return "no_users_yet";
  const user = { email, passwordHash: "", admin: false, confirmed: true, language: null, now };
  return (await insertUserIn(tx, seals, random, user)) ?? "email_taken";
}
