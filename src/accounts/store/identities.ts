import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, InTransaction, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { isFirstRunOver } from "./first-run.ts";
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
const removeLinks = sql<[userId: number]>("DELETE FROM mailed_links WHERE user_id = ?");
const insertIdentity = identities.insertion();
const removeIdentities = sql<[userId: number]>(
  `DELETE FROM identities WHERE user_id = ?
     AND EXISTS (SELECT 1 FROM users WHERE users.id = identities.user_id AND has_password = 1)`,
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
      reading.openAll(access, await db.read.all(identitiesOf, userId)).map(({ issuer, subject, createdAt }) => ({
        issuer,
        subject,
        linkedAt: createdAt,
      })),
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
        await tx.run(removeLinks, user.id);
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

/** @returns the id of its user; undefined: it is linked to no account. */
async function findOwner(connection: ReadConnection, access: AccessKeys, { issuer, subject }: IdentityKey) {
  const row = await connection.one(byKey, issuer, subject);
  return row === undefined ? undefined : reading.open(access, row)?.userId;
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
