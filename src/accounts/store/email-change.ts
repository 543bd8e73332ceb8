import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { removeMailedLinks } from "./mailed-links.ts";
import { mailedLinks, users } from "./tables.ts";
import { findUserByEmailIn, findUserIn, isEmailTaken } from "./users.ts";

interface NewLink {
  readonly userId: number;
  readonly digest: Buffer;
  readonly email: string;
  readonly now: number;
  /** Links created after this count towards `perUserMax`. */
  readonly since: number;
  readonly perUserMax: number;
  /** Runs in the same transaction. @param owner of the address, if it is taken: the link has no effect then. */
  readonly onWritten: (tx: Transaction, user: User, owner: User | undefined) => Promise<void>;
}

interface Change {
  readonly userId: number;
  readonly email: string;
  /** null: the new address is not confirmed. */
  readonly confirmedAt: number | null;
  readonly now: number;
  /** Runs in the same transaction, with the user as it was before. */
  readonly onChanged: (tx: Transaction, before: User) => Promise<void>;
}

const purpose = mailedLinks.column("purpose").encode("change_email");

const countLinks = sql<[userId: number, since: number], { count: number }>(
  `SELECT count(*) AS count FROM mailed_links WHERE user_id = ? AND purpose = ${purpose} AND created_at > ?`,
);
const removeOld = sql<[userId: number, since: number]>(
  `DELETE FROM mailed_links WHERE user_id = ? AND purpose = ${purpose} AND created_at <= ?`,
);
// They are kept because they count towards the limit.
const invalidateEarlier = sql<[userId: number]>(
  `UPDATE mailed_links SET new_email = NULL, mac = NULL WHERE user_id = ? AND purpose = ${purpose}`,
);
const insertLink = mailedLinks.insertion();
const setUnconfirmed = sql<[email: string, userId: number]>("UPDATE users SET unconfirmed_email = ? WHERE id = ?");
const reading = mailedLinks.reading();
const openLink = sql<[digest: Buffer, since: number], UnopenedRow<typeof reading>>(
  `SELECT ${reading.selectList} FROM mailed_links
   WHERE digest = ? AND purpose = ${purpose} AND new_email IS NOT NULL AND created_at > ?`,
);

async function findLink(connection: ReadConnection, access: AccessKeys, digest: Buffer, since: number) {
  const link = reading.open(access, await connection.one(openLink, digest, since));
  return link === undefined || link.newEmail === null ? undefined : { userId: link.userId, email: link.newEmail };
}

async function findEnabledUser(tx: Transaction, access: AccessKeys, userId: number): Promise<User | undefined> {
  const user = await findUserIn(tx, access, userId);
  return user?.disabledAt === null ? user : undefined;
}

async function change(
  tx: Transaction,
  access: AccessKeys,
  { userId, email, confirmedAt, now, onChanged }: Change,
): Promise<"changed" | "taken" | "unknown"> {
  const user = await findEnabledUser(tx, access, userId);
  if (user === undefined) return "unknown";
  if (await isEmailTaken(tx, access, email)) return "taken";
  await users.change(tx, access, userId, { email, unconfirmedEmail: null, confirmedAt, updatedAt: now });
  // Also those that were mailed to the old address: it may belong to another person by now.
  await tx.run(removeMailedLinks, userId);
  await onChanged(tx, user);
  return "changed";
}

export type EmailChangeStore = ReturnType<typeof createEmailChangeStore>;

export function createEmailChangeStore(db: Database, access: AccessKeys) {
  return {
    /** Invalidates the user's earlier links. @returns "too_many": nothing was written. */
    insertLink: (link: NewLink): Promise<"sent" | "too_many" | "unknown"> =>
      db.writeSerialized("accounts", async (tx) => {
        const { userId, digest, email, now, since, perUserMax } = link;
        const user = await findEnabledUser(tx, access, userId);
        if (user === undefined) return "unknown";
        if (((await tx.one(countLinks, userId, since))?.count ?? 0) >= perUserMax) return "too_many";
        await tx.run(removeOld, userId, since);
        await tx.run(invalidateEarlier, userId);
        const owner = await findUserByEmailIn(tx, access, email);
        const newEmail = owner === undefined ? email : null;
        await insertLink(tx, access, { digest, userId, purpose: "change_email", newEmail, createdAt: now });
        await tx.run(setUnconfirmed, email, userId);
        await link.onWritten(tx, user, owner);
        return "sent";
      }),

    /** Changes the address, which counts as confirmed. @param link created after `since`. */
    redeemLink: ({
      digest,
      since,
      now,
      onChanged,
    }: Pick<Change, "now" | "onChanged"> & { readonly digest: Buffer; readonly since: number }): Promise<
      "changed" | "invalid" | "taken"
    > =>
      db.writeSerialized("accounts", async (tx) => {
        const link = await findLink(tx, access, digest, since);
        if (link === undefined) return "invalid";
        const outcome = await change(tx, access, { ...link, confirmedAt: now, now, onChanged });
        return outcome === "unknown" ? "invalid" : outcome;
      }),

    /** Changes the address without a link. */
    changeEmail: (wanted: Change): Promise<"changed" | "taken" | "unknown"> =>
      db.writeSerialized("accounts", (tx) => change(tx, access, wanted)),

    /** The address that a link would change to; undefined: no such link. */
    findLink: async (digest: Buffer, since: number): Promise<string | undefined> =>
      (await findLink(db.read, access, digest, since))?.email,
  };
}
