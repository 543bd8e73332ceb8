import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { isFirstRunOver } from "./first-run.ts";
import { identities } from "./tables.ts";
import { insertUserIn, toUser, type UserRow, userById, userColumns } from "./users.ts";

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

const userByIdentity = sql<[issuer: string, subject: string], UserRow>(
  `SELECT ${userColumns} FROM identities JOIN users ON users.id = identities.user_id WHERE issuer = ? AND subject = ?`,
);
const identitiesOf = identities
  .pick("issuer", "subject", "createdAt")
  .select<[userId: number]>("WHERE user_id = ? ORDER BY created_at DESC, issuer, subject");
const ownerOf = identities.pick("userId").select<[issuer: string, subject: string]>("WHERE issuer = ? AND subject = ?");
const countOf = sql<[userId: number], { identities: number }>(
  "SELECT count(*) AS identities FROM identities WHERE user_id = ?",
);
const insertIdentity = identities.insert();
const removeIdentities = sql<[userId: number]>(
  `DELETE FROM identities WHERE user_id = ?
     AND EXISTS (SELECT 1 FROM users WHERE users.id = identities.user_id AND password_hash <> '')`,
);
export type IdentityStore = ReturnType<typeof createIdentityStore>;

export function createIdentityStore(db: Database) {
  return {
    async findUserByIdentity({ issuer, subject }: IdentityKey): Promise<User | undefined> {
      const row = await db.read.one(userByIdentity, issuer, subject);
      return row === undefined ? undefined : toUser(row);
    },
    /** Newest first. */
    listIdentities: async (userId: number): Promise<readonly Identity[]> =>
      (await db.read.all(identitiesOf, userId)).map(({ issuer, subject, createdAt }) => ({
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
        if ((await tx.one(ownerOf, issuer, subject)) !== undefined) return "identity_taken";
        const user = await insertConfirmed(tx, email, now);
        if (typeof user === "object") {
          await tx.run(insertIdentity, ...identities.values({ issuer, subject, userId: user.id, createdAt: now }));
        }
        return user;
      }),
    /** Requires the accounts lock. "taken": it is linked to another account. */
    linkIdentity,
    /** Whether the identity is still linked to this user. */
    isIdentityOf: async (tx: Transaction, { issuer, subject }: IdentityKey, userId: number): Promise<boolean> =>
      (await tx.one(ownerOf, issuer, subject))?.userId === userId,
    /** Removes all identities of the user. @returns false: there was none, or the account has no password to sign in with. */
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
  await tx.run(insertIdentity, ...identities.values({ issuer, subject, userId, createdAt: now }));
  return "linked";
}

async function insertConfirmed(
  tx: Transaction,
  email: string,
  now: number,
): Promise<User | "email_taken" | "no_users_yet"> {
  // The first account has to be an administrator's, created with the boot code. Any other one would make that impossible.
  if (!(await isFirstRunOver(tx))) return "no_users_yet";
  const user = { email, passwordHash: "", admin: false, confirmed: true, language: null, now };
  return (await insertUserIn(tx, user)) ?? "email_taken";
}
