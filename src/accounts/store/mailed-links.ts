import type { Database } from "../../db/sqlite.ts";

export type LinkPurpose = "confirm_account" | "reset_password";

/** As stored. 2 is a change of the e-mail. */
const purposeCodes: Readonly<Record<LinkPurpose, number>> = { confirm_account: 0, reset_password: 1 };

export interface MailedLink {
  readonly userId: number;
  readonly email: string;
  /** Of the sign-up that the mail answers; null: it answers none. */
  readonly passwordHash: string | null;
}

/** All but `find` and `removeAbandoned` run inside a unit of `db.write`. */
export interface MailedLinkStore {
  insert(link: {
    digest: Buffer;
    userId: number;
    purpose: LinkPurpose;
    passwordHash: string | null;
    now: number;
  }): void;
  /** undefined: unknown, void, used, made at `since` or earlier, or of a disabled user. */
  findFresh(digest: Buffer, purpose: LinkPurpose, since: number): MailedLink | undefined;
  /** As `findFresh`, from what is durable. */
  find(digest: Buffer, purpose: LinkPurpose, since: number): MailedLink | undefined;
  removeOf(userId: number, purpose: LinkPurpose): void;
  /** Confirms the account and voids its links for that. false: it was confirmed before. */
  confirm(userId: number, passwordHash: string | null, now: number): boolean;
  /** Costs what a write costs, and changes nothing that anybody reads. */
  writeNothing(value: Buffer): void;
  /**
   * Removes what was made before `before`: links, and with them the accounts that such a link began, that were never
   * confirmed and that nobody has ever signed in to. At most `linksMax` links at a time.
   */
  removeAbandoned(before: number, linksMax: number): Promise<number>;
}

interface Row {
  user_id: number;
  email: string;
  password_hash: string | null;
}

export function createMailedLinkStore(db: Database): MailedLinkStore {
  const insert = db.writer.prepare<[Buffer, number, number, string | null, number]>(
    "INSERT INTO mailed_links (digest, user_id, purpose, password_hash, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const openLink = `SELECT user_id, email, mailed_links.password_hash FROM mailed_links
     JOIN users ON users.id = user_id
     WHERE digest = ? AND purpose = ? AND mailed_links.created_at > ? AND disabled_at IS NULL`;
  const findFresh = db.writer.prepare<[Buffer, number, number], Row>(openLink);
  const find = db.reader.prepare<[Buffer, number, number], Row>(openLink);
  const remove = db.writer.prepare<[number, number]>("DELETE FROM mailed_links WHERE user_id = ? AND purpose = ?");
  const confirm = db.writer.prepare<[number, number, string | null, number]>(
    `UPDATE users SET confirmed_at = ?, updated_at = ?, password_hash = coalesce(?, password_hash)
     WHERE id = ? AND confirmed_at IS NULL`,
  );
  const writeNothing = db.writer.prepare<[Buffer]>(
    `INSERT INTO meta (name, value) VALUES ('nothing', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  );
  const old = "SELECT digest FROM mailed_links WHERE created_at < ? ORDER BY created_at LIMIT ?";
  const removeAccounts = db.writer.prepare<[number, number]>(
    `DELETE FROM users WHERE confirmed_at IS NULL AND last_signed_in_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM api_tokens WHERE api_tokens.user_id = users.id) AND id IN (
       SELECT user_id FROM mailed_links WHERE digest IN (${old})
         AND purpose = 0 AND mailed_links.password_hash IS NOT NULL AND mailed_links.created_at = users.created_at)`,
  );
  const removeOld = db.writer.prepare<[number, number]>(`DELETE FROM mailed_links WHERE digest IN (${old})`);
  const toLink = (row: Row | undefined) =>
    row === undefined ? undefined : { userId: row.user_id, email: row.email, passwordHash: row.password_hash };
  return {
    insert: ({ digest, userId, purpose, passwordHash, now }) =>
      void insert.run(digest, userId, purposeCodes[purpose], passwordHash, now),
    findFresh: (digest, purpose, since) => toLink(findFresh.get(digest, purposeCodes[purpose], since)),
    find: (digest, purpose, since) => toLink(find.get(digest, purposeCodes[purpose], since)),
    removeOf: (userId, purpose) => void remove.run(userId, purposeCodes[purpose]),
    confirm(userId, passwordHash, now) {
      if (confirm.run(now, now, passwordHash, userId).changes !== 1) return false;
      remove.run(userId, purposeCodes.confirm_account);
      return true;
    },
    writeNothing: (value) => void writeNothing.run(value),
    removeAbandoned: (before, linksMax) =>
      db.write(() => {
        removeAccounts.run(before, linksMax);
        return removeOld.run(before, linksMax).changes;
      }),
  };
}
