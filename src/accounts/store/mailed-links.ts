import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, ReadConnection, Transaction } from "../../database/database.ts";
import { putMeta } from "../../database/meta.ts";
import { sql } from "../../database/statement.ts";
import type { PasswordSeals } from "./password-seals.ts";
import { mailedLinks, users } from "./tables.ts";
import { findUserIn, openUser, type UserRow, userColumns } from "./users.ts";

/** Links for changes of the email address are in email-change.ts. */
export type LinkPurpose = "confirm_account" | "reset_password" | "invitation" | "break_glass";

export interface MailedLink {
  readonly userId: number;
  readonly email: string;
  /** The password of the sign-up that caused the email; null: not caused by a sign-up. */
  readonly passwordHash: string | null;
}

export interface NewLink {
  readonly digest: Buffer;
  readonly userId: number;
  readonly purpose: LinkPurpose;
  readonly passwordHash: string | null;
  readonly now: number;
}

const purposes = mailedLinks.column("purpose");

const insertLink = mailedLinks.insertion();
const reading = mailedLinks.reading("passwordSealed");
const openLink = sql<[digest: Buffer, purpose: number, since: number], UserRow & UnopenedRow<typeof reading>>(
  `SELECT ${userColumns}, ${reading.selectList} FROM mailed_links
   JOIN users ON users.id = user_id
   WHERE digest = ? AND purpose = ? AND mailed_links.created_at > ? AND disabled_at IS NULL`,
);
const removeLinks = sql<[userId: number, purpose: number]>(
  "DELETE FROM mailed_links WHERE user_id = ? AND purpose = ?",
);
/** All links of one user, whatever they are for. */
export const removeMailedLinks = sql<[userId: number]>("DELETE FROM mailed_links WHERE user_id = ?");
/** When the last link of a batch was created. */
const endOfBatch = sql<[before: number, earlierLinks: number], { createdAt: number }>(
  `SELECT created_at AS createdAt FROM mailed_links WHERE created_at < ? ORDER BY created_at LIMIT 1 OFFSET ?`,
);
const countOld = sql<[upTo: number], { links: number }>(
  "SELECT count(*) AS links FROM mailed_links WHERE created_at <= ?",
);
const removeAccounts = sql<[upTo: number]>(
  `DELETE FROM users WHERE id IN (
     SELECT users.id FROM mailed_links JOIN users ON users.id = mailed_links.user_id
     WHERE mailed_links.created_at <= ? AND purpose = ${purposes.encode("confirm_account")}
       AND mailed_links.sets_password = 1
       AND mailed_links.created_at = users.created_at AND confirmed_at IS NULL AND last_signed_in_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM api_tokens WHERE api_tokens.user_id = users.id))`,
);
const removeOld = sql<[upTo: number]>("DELETE FROM mailed_links WHERE created_at <= ?");

async function findOpen(
  connection: ReadConnection,
  seals: PasswordSeals,
  digest: Buffer,
  { purpose, since }: { readonly purpose: LinkPurpose; readonly since: number },
): Promise<MailedLink | undefined> {
  const row = await connection.one(openLink, digest, purposes.encode(purpose), since);
  const link = reading.open(seals.access, row);
  const user = openUser(seals.access, row);
  // The MAC of the row names the user, and the join could name another one.
  if (link === undefined || user?.id !== link.userId || user.disabledAt !== null) return undefined;
  const passwordHash = seals.openOfLink(link, link.passwordSealed);
  return passwordHash === undefined ? undefined : { userId: user.id, email: user.email, passwordHash };
}

export type MailedLinkStore = ReturnType<typeof createMailedLinkStore>;

/** Functions that take a transaction require the accounts lock. */
export function createMailedLinkStore(db: Database, seals: PasswordSeals) {
  const { access } = seals;
  return {
    async insert(tx: Transaction, { digest, userId, purpose, passwordHash, now }: NewLink): Promise<void> {
      const password = seals.columnsOfLink(digest, userId, passwordHash);
      await insertLink(tx, access, { digest, userId, purpose, ...password, createdAt: now });
    },

    /** @returns undefined: unknown, invalidated, used, created at `since` or earlier, or of a disabled user. */
    findFresh: (tx: Transaction, digest: Buffer, purpose: LinkPurpose, since: number) =>
      findOpen(tx, seals, digest, { purpose, since }),

    /** As `findFresh`, outside of a transaction. */
    find: (digest: Buffer, purpose: LinkPurpose, since: number) => findOpen(db.read, seals, digest, { purpose, since }),

    async removeOf(tx: Transaction, userId: number, purpose: LinkPurpose): Promise<void> {
      await tx.run(removeLinks, userId, purposes.encode(purpose));
    },

    /** Confirms the account and removes its links for that. @returns false: it was confirmed before. */
    async confirm(tx: Transaction, userId: number, passwordHash: string | null, now: number): Promise<boolean> {
      const user = await findUserIn(tx, access, userId);
      if (user === undefined || user.confirmedAt !== null) return false;
      await users.change(tx, access, userId, {
        confirmedAt: now,
        updatedAt: now,
        ...(passwordHash !== null && seals.columnsOf(userId, passwordHash)),
      });
      await tx.run(removeLinks, userId, purposes.encode("confirm_account"));
      return true;
    },

    /** Costs as much as a write, and changes nothing that is ever read. */
    async writeNothing(tx: Transaction, value: Buffer): Promise<void> {
      await tx.run(putMeta, "nothing", value);
    },

    /**
     * Removes links created before `before`, and the accounts that were created with them, were never confirmed and were
     * never signed in to. At most `linksMax` links at a time, plus those of the same millisecond as the last one.
     * @returns how many links.
     */
    removeAbandoned: (before: number, linksMax: number): Promise<number> =>
      db.writeSerialized("accounts", async (tx) => {
        const upTo = (await tx.one(endOfBatch, before, linksMax - 1))?.createdAt ?? before - 1;
        // Count first: removing an account removes its links as well.
        const count = (await tx.one(countOld, upTo))?.links ?? 0;
        await tx.run(removeAccounts, upTo);
        await tx.run(removeOld, upTo);
        return count;
      }),
  };
}
