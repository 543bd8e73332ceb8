import type { Database } from "../../db/sqlite.ts";
import type { User } from "../account.ts";
import { countedIds } from "./counted-ids.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

/** Who a provider says somebody is: the two together are never given to another person. */
export interface IdentityKey {
  readonly issuer: string;
  readonly subject: string;
}

/** One that is linked to an account. */
export interface Identity extends IdentityKey {
  /** Milliseconds since the epoch. */
  readonly linkedAt: number;
}

export interface NewLink extends IdentityKey {
  readonly userId: number;
  readonly now: number;
  /** Whoever asks has shown a second factor, or has a complete session; false: only an account without one takes it. */
  readonly factorShown: boolean;
  readonly perUserMax: number;
}

export interface IdentityStore {
  findUserByIdentity(identity: IdentityKey): User | undefined;
  /** The newest first. */
  listIdentities(userId: number): Identity[];
  /** A confirmed account without a password, and its identity. Never the first account of a server. */
  insertUserWithIdentity(
    request: IdentityKey & { email: string; now: number },
  ): Promise<User | "email_taken" | "identity_taken" | "no_users_yet">;
  /** For a unit of `db.write`. "taken": it is another account's. */
  linkIdentity(link: NewLink): "linked" | "linked_before" | "taken" | "refused";
  /** For a unit of `db.write`: still this user's. */
  isIdentityOf(identity: IdentityKey, userId: number): boolean;
  /** For a unit of `db.write`: all of them. false: nothing was linked, or there is no password to sign in by instead. */
  deleteIdentities(userId: number): boolean;
}

export function createIdentityStore(db: Database): IdentityStore {
  const find = db.reader.prepare<[string, string], UserRow>(
    `SELECT ${userColumns} FROM identities JOIN users ON users.id = identities.user_id WHERE issuer = ? AND subject = ?`,
  );
  const list = db.reader.prepare<[number], Identity>(
    `SELECT issuer, subject, created_at AS linkedAt FROM identities WHERE user_id = ?
     ORDER BY created_at DESC, issuer, subject`,
  );
  const ownerOf = db.writer.prepare<[string, string], { user_id: number }>(
    "SELECT user_id FROM identities WHERE issuer = ? AND subject = ?",
  );
  const countOf = db.writer.prepare<[number], { identities: number }>(
    "SELECT count(*) AS identities FROM identities WHERE user_id = ?",
  );
  const freshUser = db.writer.prepare<[number], UserRow>(
    `SELECT ${userColumns} FROM users WHERE id = ? AND disabled_at IS NULL`,
  );
  const insert = db.writer.prepare<[string, string, number, number]>(
    "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (?, ?, ?, ?)",
  );
  const remove = db.writer.prepare<[number]>(
    `DELETE FROM identities WHERE user_id = ?
       AND EXISTS (SELECT 1 FROM users WHERE users.id = identities.user_id AND password_hash <> '')`,
  );
  const insertUser = prepareInsertUser(db);

  return {
    findUserByIdentity({ issuer, subject }) {
      const row = find.get(issuer, subject);
      return row === undefined ? undefined : toUser(row);
    },
    listIdentities: (userId) => list.all(userId),
    insertUserWithIdentity: ({ issuer, subject, email, now }) =>
      db.write(() => {
        if (ownerOf.get(issuer, subject) !== undefined) return "identity_taken";
        const user = insertUser(email, now);
        if (typeof user === "object") insert.run(issuer, subject, user.id, now);
        return user;
      }),
    linkIdentity({ issuer, subject, userId, now, factorShown, perUserMax }) {
      const user = freshUser.get(userId);
      if (user === undefined || (user.has_second_factor === 1 && !factorShown)) return "refused";
      const owner = ownerOf.get(issuer, subject);
      if (owner !== undefined) return owner.user_id === userId ? "linked_before" : "taken";
      if ((countOf.get(userId)?.identities ?? 0) >= perUserMax) return "refused";
      insert.run(issuer, subject, userId, now);
      return "linked";
    },
    isIdentityOf: ({ issuer, subject }, userId) => ownerOf.get(issuer, subject)?.user_id === userId,
    deleteIdentities: (userId) => remove.run(userId).changes > 0,
  };
}

function prepareInsertUser(db: Database): (email: string, now: number) => User | "email_taken" | "no_users_yet" {
  const nextId = countedIds(db);
  const anybody = db.writer.prepare<[], { id: number }>("SELECT id FROM users LIMIT 1");
  const taken = db.writer.prepare<[string], { id: number }>("SELECT id FROM users WHERE email = ?");
  const insert = db.writer.prepare<[number, string, number, number, number]>(
    `INSERT INTO users (id, email, password_hash, admin, created_at, updated_at, confirmed_at)
     VALUES (?, ?, '', 0, ?, ?, ?)`,
  );
  const fresh = db.writer.prepare<[number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
  return (email, now) => {
    // The first account has to be an administrator's, made against the boot code: with another one there first, none could be.
    if (anybody.get() === undefined) return "no_users_yet";
    if (taken.get(email) !== undefined) return "email_taken";
    const id = nextId("users");
    insert.run(id, email, now, now, now);
    const row = fresh.get(id);
    if (row === undefined) throw new Error("The user was not stored.");
    return toUser(row);
  };
}
