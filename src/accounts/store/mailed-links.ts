import type { Database, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

export type LinkPurpose = "confirm_account" | "reset_password";

/** As stored. 2 is a change of the e-mail. */
const purposeCodes: Readonly<Record<LinkPurpose, number>> = { confirm_account: 0, reset_password: 1 };

export interface MailedLink {
  readonly userId: number;
  readonly email: string;
  /** Of the sign-up that the mail answers; null: it answers none. */
  readonly passwordHash: string | null;
}

export interface NewLink {
  readonly digest: Buffer;
  readonly userId: number;
  readonly purpose: LinkPurpose;
  readonly passwordHash: string | null;
  readonly now: number;
}

const insertLink = sql<
  [digest: Buffer, userId: number, purpose: number, passwordHash: string | null, createdAt: number]
>("INSERT INTO mailed_links (digest, user_id, purpose, password_hash, created_at) VALUES (?, ?, ?, ?, ?)");
const openLink = sql<[digest: Buffer, purpose: number, since: number], MailedLink>(
  `SELECT user_id AS userId, email, mailed_links.password_hash AS passwordHash FROM mailed_links
   JOIN users ON users.id = user_id
   WHERE digest = ? AND purpose = ? AND mailed_links.created_at > ? AND disabled_at IS NULL`,
);
const removeLinks = sql<[userId: number, purpose: number]>(
  "DELETE FROM mailed_links WHERE user_id = ? AND purpose = ?",
);
const confirmUser = sql<[confirmedAt: number, updatedAt: number, passwordHash: string | null, userId: number]>(
  `UPDATE users SET confirmed_at = ?, updated_at = ?, password_hash = coalesce(CAST(? AS TEXT), password_hash)
   WHERE id = ? AND confirmed_at IS NULL`,
);
const putNothing = sql<[value: Buffer]>(
  "INSERT INTO meta (name, value) VALUES ('nothing', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);
/** When the last link of a batch was made. */
const endOfBatch = sql<[before: number, earlierLinks: number], { createdAt: number }>(
  `SELECT created_at AS createdAt FROM mailed_links WHERE created_at < ? ORDER BY created_at LIMIT 1 OFFSET ?`,
);
const countOld = sql<[upTo: number], { links: number }>(
  "SELECT count(*) AS links FROM mailed_links WHERE created_at <= ?",
);
const removeAccounts = sql<[upTo: number]>(
  `DELETE FROM users WHERE id IN (
     SELECT users.id FROM mailed_links JOIN users ON users.id = mailed_links.user_id
     WHERE mailed_links.created_at <= ? AND purpose = 0 AND mailed_links.password_hash IS NOT NULL
       AND mailed_links.created_at = users.created_at AND confirmed_at IS NULL AND last_signed_in_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM api_tokens WHERE api_tokens.user_id = users.id))`,
);
const removeOld = sql<[upTo: number]>("DELETE FROM mailed_links WHERE created_at <= ?");

const findOpen = (reading: ReadConnection, digest: Buffer, purpose: LinkPurpose, since: number) =>
  reading.one(openLink, digest, purposeCodes[purpose], since);

export type MailedLinkStore = ReturnType<typeof createMailedLinkStore>;

/** What takes a transaction belongs into one of the accounts' turn. */
export function createMailedLinkStore(db: Database) {
  return {
    async insert(tx: Transaction, { digest, userId, purpose, passwordHash, now }: NewLink): Promise<void> {
      await tx.run(insertLink, digest, userId, purposeCodes[purpose], passwordHash, now);
    },
    /** undefined: unknown, void, used, made at `since` or earlier, or of a disabled user. */
    findFresh: findOpen,
    /** As `findFresh`, from what is durable. */
    find: (digest: Buffer, purpose: LinkPurpose, since: number): Promise<MailedLink | undefined> =>
      findOpen(db.read, digest, purpose, since),
    async removeOf(tx: Transaction, userId: number, purpose: LinkPurpose): Promise<void> {
      await tx.run(removeLinks, userId, purposeCodes[purpose]);
    },
    /** Confirms the account and voids its links for that. false: it was confirmed before. */
    async confirm(tx: Transaction, userId: number, passwordHash: string | null, now: number): Promise<boolean> {
      if ((await tx.run(confirmUser, now, now, passwordHash, userId)) !== 1) return false;
      await tx.run(removeLinks, userId, purposeCodes.confirm_account);
      return true;
    },
    /** Costs what a write costs, and changes nothing that anybody reads. */
    async writeNothing(tx: Transaction, value: Buffer): Promise<void> {
      await tx.run(putNothing, value);
    },
    /**
     * Removes what was made before `before`: links, and with them the accounts that such a link began, that were never
     * confirmed and that nobody has ever signed in to. At most `linksMax` links at a time, and those that were made in the
     * same millisecond as the last of them. @returns how many links.
     */
    removeAbandoned: (before: number, linksMax: number): Promise<number> =>
      db.writeSerialized("accounts", async (tx) => {
        const upTo = (await tx.one(endOfBatch, before, linksMax - 1))?.createdAt ?? before - 1;
        // Links of accounts that go are gone with them, so they are counted first.
        const count = (await tx.one(countOld, upTo))?.links ?? 0;
        await tx.run(removeAccounts, upTo);
        await tx.run(removeOld, upTo);
        return count;
      }),
  };
}
