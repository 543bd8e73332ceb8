import type { Database } from "../../db/sqlite.ts";
import type { User } from "../account.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

/** Callbacks run inside the unit of `db.write`. */
export interface EmailChangeStore {
  /**
   * Earlier links of the user are void.
   * @param onWritten `owner`: whose address it is already; the link is void then, which nobody is told.
   * @returns "too_many": that many were asked for since then; nothing was written.
   */
  insertLink(link: {
    userId: number;
    digest: Buffer;
    email: string;
    now: number;
    since: number;
    perUserMax: number;
    onWritten: (user: User, owner: User | undefined) => void;
  }): Promise<"sent" | "too_many" | "unknown">;
  /** @param onChanged told the user as it was before. */
  redeemLink(link: {
    digest: Buffer;
    now: number;
    since: number;
    onChanged: (before: User) => void;
  }): Promise<"changed" | "invalid" | "taken">;
  changeEmail(change: {
    userId: number;
    email: string;
    now: number;
    onChanged: (before: User) => void;
  }): Promise<"changed" | "taken" | "unknown">;
  /** The address that a link would change to; undefined: no such link. */
  findLink(digest: Buffer, since: number): string | undefined;
}

/** See the schema of `mailed_links`. */
const changesEmail = 2;

export function createEmailChangeStore(db: Database): EmailChangeStore {
  const steps = prepareChange(db);
  const count = db.writer.prepare<[number, number], { count: number }>(
    `SELECT count(*) AS count FROM mailed_links WHERE user_id = ? AND purpose = ${changesEmail} AND created_at > ?`,
  );
  const forgetOld = db.writer.prepare<[number, number]>(
    `DELETE FROM mailed_links WHERE user_id = ? AND purpose = ${changesEmail} AND created_at <= ?`,
  );
  // They stay to be counted, and lead nowhere.
  const voidEarlier = db.writer.prepare<[number]>(
    `UPDATE mailed_links SET new_email = NULL WHERE user_id = ? AND purpose = ${changesEmail}`,
  );
  const insert = db.writer.prepare<[Buffer, number, string | null, number]>(
    `INSERT INTO mailed_links (digest, user_id, purpose, new_email, created_at) VALUES (?, ?, ${changesEmail}, ?, ?)`,
  );
  const setWaiting = db.writer.prepare<[string, number]>("UPDATE users SET unconfirmed_email = ? WHERE id = ?");
  const linkSql = `SELECT user_id AS userId, new_email AS email FROM mailed_links
     WHERE digest = ? AND purpose = ${changesEmail} AND new_email IS NOT NULL AND created_at > ?`;
  const findForWrite = db.writer.prepare<[Buffer, number], { userId: number; email: string }>(linkSql);
  const find = db.reader.prepare<[Buffer, number], { userId: number; email: string }>(linkSql);

  return {
    insertLink: ({ userId, digest, email, now, since, perUserMax, onWritten }) =>
      db.write(() => {
        const user = steps.findUser(userId);
        if (user === undefined) return "unknown";
        if ((count.get(userId, since)?.count ?? 0) >= perUserMax) return "too_many";
        forgetOld.run(userId, since);
        voidEarlier.run(userId);
        const owner = steps.findOwner(email);
        insert.run(digest, userId, owner === undefined ? email : null, now);
        setWaiting.run(email, userId);
        onWritten(user, owner);
        return "sent";
      }),
    redeemLink: ({ digest, now, since, onChanged }) =>
      db.write(() => {
        const link = findForWrite.get(digest, since);
        if (link === undefined) return "invalid";
        const outcome = steps.change(link.userId, link.email, now, onChanged);
        return outcome === "unknown" ? "invalid" : outcome;
      }),
    changeEmail: ({ userId, email, now, onChanged }) => db.write(() => steps.change(userId, email, now, onChanged)),
    findLink: (digest, since) => find.get(digest, since)?.email,
  };
}

/** Steps that run inside a unit of `db.write`. */
function prepareChange(db: Database) {
  const byId = db.writer.prepare<[number], UserRow>(
    `SELECT ${userColumns} FROM users WHERE id = ? AND disabled_at IS NULL`,
  );
  const byEmail = db.writer.prepare<[string], UserRow>(`SELECT ${userColumns} FROM users WHERE email = ?`);
  const setEmail = db.writer.prepare<[string, number, number]>(
    "UPDATE users SET email = ?, unconfirmed_email = NULL, updated_at = ? WHERE id = ?",
  );
  // Those to the old address, too: it may not be its owner's any more.
  const voidLinks = db.writer.prepare<[number]>("DELETE FROM mailed_links WHERE user_id = ?");
  const userOf = (row: UserRow | undefined) => (row === undefined ? undefined : toUser(row));
  return {
    findUser: (userId: number) => userOf(byId.get(userId)),
    findOwner: (email: string) => userOf(byEmail.get(email)),
    change(userId: number, email: string, now: number, onChanged: (before: User) => void) {
      const user = userOf(byId.get(userId));
      if (user === undefined) return "unknown";
      if (byEmail.get(email) !== undefined) return "taken";
      setEmail.run(email, now, userId);
      voidLinks.run(userId);
      onChanged(user);
      return "changed";
    },
  } as const;
}
