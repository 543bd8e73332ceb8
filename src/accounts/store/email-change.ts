import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { toUser, type UserRow, userColumns } from "./users.ts";

type OnChanged = (tx: Transaction, before: User) => Promise<void>;

/** See the schema of `mailed_links`. */
const changesEmail = 2;

const countLinks = sql<[userId: number, since: number], { count: number }>(
  `SELECT count(*) AS count FROM mailed_links WHERE user_id = ? AND purpose = ${changesEmail} AND created_at > ?`,
);
const forgetOld = sql<[userId: number, since: number]>(
  `DELETE FROM mailed_links WHERE user_id = ? AND purpose = ${changesEmail} AND created_at <= ?`,
);
// They stay to be counted, and lead nowhere.
const voidEarlier = sql<[userId: number]>(
  `UPDATE mailed_links SET new_email = NULL WHERE user_id = ? AND purpose = ${changesEmail}`,
);
const insertRow = sql<[digest: Buffer, userId: number, newEmail: string | null, createdAt: number]>(
  `INSERT INTO mailed_links (digest, user_id, purpose, new_email, created_at) VALUES (?, ?, ${changesEmail}, ?, ?)`,
);
const setWaiting = sql<[email: string, userId: number]>("UPDATE users SET unconfirmed_email = ? WHERE id = ?");
const openLink = sql<[digest: Buffer, since: number], { userId: number; email: string }>(
  `SELECT user_id AS userId, new_email AS email FROM mailed_links
   WHERE digest = ? AND purpose = ${changesEmail} AND new_email IS NOT NULL AND created_at > ?`,
);
const enabledById = sql<[userId: number], UserRow>(
  `SELECT ${userColumns} FROM users WHERE id = ? AND disabled_at IS NULL`,
);
const userByEmail = sql<[email: string], UserRow>(`SELECT ${userColumns} FROM users WHERE email = ?`);
const setEmail = sql<[email: string, confirmedAt: number | null, updatedAt: number, userId: number]>(
  "UPDATE users SET email = ?, unconfirmed_email = NULL, confirmed_at = ?, updated_at = ? WHERE id = ?",
);
// Those to the old address, too: it may not be its owner's any more.
const voidLinks = sql<[userId: number]>("DELETE FROM mailed_links WHERE user_id = ?");

export type EmailChangeStore = ReturnType<typeof createEmailChangeStore>;

/** Callbacks run inside the transaction. */
export function createEmailChangeStore(db: Database) {
  return {
    /**
     * Earlier links of the user are void.
     * @param onWritten `owner`: whose address it is already; the link is void then, which nobody is told.
     * @returns "too_many": that many were asked for since then; nothing was written.
     */
    insertLink: ({
      userId,
      digest,
      email,
      now,
      since,
      perUserMax,
      onWritten,
    }: {
      userId: number;
      digest: Buffer;
      email: string;
      now: number;
      since: number;
      perUserMax: number;
      onWritten: (tx: Transaction, user: User, owner: User | undefined) => Promise<void>;
    }): Promise<"sent" | "too_many" | "unknown"> =>
      db.writeSerialized("accounts", async (tx) => {
        const user = await findUser(tx, userId);
        if (user === undefined) return "unknown";
        if (((await tx.one(countLinks, userId, since))?.count ?? 0) >= perUserMax) return "too_many";
        await tx.run(forgetOld, userId, since);
        await tx.run(voidEarlier, userId);
        const owner = await findOwner(tx, email);
        await tx.run(insertRow, digest, userId, owner === undefined ? email : null, now);
        await tx.run(setWaiting, email, userId);
        await onWritten(tx, user, owner);
        return "sent";
      }),
    /** The new address is proven by that. @param onChanged told the user as it was before. */
    redeemLink: ({
      digest,
      now,
      since,
      onChanged,
    }: {
      digest: Buffer;
      now: number;
      since: number;
      onChanged: OnChanged;
    }): Promise<"changed" | "invalid" | "taken"> =>
      db.writeSerialized("accounts", async (tx) => {
        const link = await tx.one(openLink, digest, since);
        if (link === undefined) return "invalid";
        const outcome = await change(tx, {
          userId: link.userId,
          email: link.email,
          confirmedAt: now,
          now,
          onChanged,
        });
        return outcome === "unknown" ? "invalid" : outcome;
      }),
    /** The new address is proven by nothing. */
    changeEmail: (wanted: {
      userId: number;
      email: string;
      now: number;
      onChanged: OnChanged;
    }): Promise<"changed" | "taken" | "unknown"> =>
      db.writeSerialized("accounts", (tx) => change(tx, { ...wanted, confirmedAt: null })),
    /** The address that a link would change to; undefined: no such link. */
    findLink: async (digest: Buffer, since: number): Promise<string | undefined> =>
      (await db.read.one(openLink, digest, since))?.email,
  };
}

const userOf = (row: UserRow | undefined) => (row === undefined ? undefined : toUser(row));
const findUser = async (tx: Transaction, userId: number) => userOf(await tx.one(enabledById, userId));
const findOwner = async (tx: Transaction, email: string) => userOf(await tx.one(userByEmail, email));

async function change(
  tx: Transaction,
  wanted: Parameters<EmailChangeStore["changeEmail"]>[0] & { confirmedAt: number | null },
): Promise<"changed" | "taken" | "unknown"> {
  const { userId, email, confirmedAt, now, onChanged } = wanted;
  const user = await findUser(tx, userId);
  if (user === undefined) return "unknown";
  if ((await findOwner(tx, email)) !== undefined) return "taken";
  await tx.run(setEmail, email, confirmedAt, now, userId);
  await tx.run(voidLinks, userId);
  await onChanged(tx, user);
  return "changed";
}
