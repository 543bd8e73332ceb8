import type { Database } from "../db/sqlite.ts";
import type { ApiToken, User } from "./account.ts";

/** Rows in and out. Reads answer from what is durable; writes settle once they are. */
export interface AccountStore {
  /** undefined: the e-mail is taken. */
  insertUser(user: { email: string; passwordHash: string; admin: boolean; now: number }): Promise<User | undefined>;
  findUserByEmail(email: string): { user: User; passwordHash: string } | undefined;

  /** Ends the user's oldest sessions beyond `perUserMax`. */
  insertSession(session: { digest: Buffer; userId: number; now: number; perUserMax: number }): Promise<void>;
  findSession(digest: Buffer): { user: User; createdAt: number; seenAt: number } | undefined;
  recordSessionUse(digest: Buffer, now: number): Promise<void>;
  deleteSession(digest: Buffer): Promise<void>;
  /** @returns how many were deleted, at most `sessionsMax`. */
  deleteSessionsSeenBefore(seenAt: number, sessionsMax: number): Promise<number>;

  /** undefined: `inUseMax` are in use. Revoked ones beyond the newest `revokedKeptMax` are forgotten. */
  insertToken(token: {
    userId: number;
    name: string;
    digest: Buffer;
    now: number;
    inUseMax: number;
    revokedKeptMax: number;
  }): Promise<ApiToken | undefined>;
  listTokens(userId: number): ApiToken[];
  revokeToken(userId: number, tokenId: number, now: number): Promise<boolean>;
  /** Never a revoked one. */
  findToken(digest: Buffer): { tokenId: number; lastUsedAt: number | null; user: User } | undefined;
  recordTokenUse(tokenId: number, now: number): Promise<void>;
}

interface UserRow {
  user_id: number;
  email: string;
  admin: number;
  user_created_at: number;
}

interface TokenRow {
  id: number;
  name: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

const userColumns = "users.id AS user_id, email, admin, users.created_at AS user_created_at";

function toUser(row: UserRow): User {
  return { id: row.user_id, email: row.email, admin: row.admin === 1, createdAt: row.user_created_at };
}

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

export function createAccountStore(db: Database): AccountStore {
  // Ids of people and tokens are typed by operators, so they are counted one by one; none is given twice, even when
  // its row is deleted.
  const takeId = db.writer.prepare<[string], { next_id: number }>(
    `INSERT INTO id_blocks (name, next_id) VALUES (?, 2)
     ON CONFLICT (name) DO UPDATE SET next_id = next_id + 1 RETURNING next_id`,
  );
  function nextId(name: "users" | "api_tokens"): number {
    const row = takeId.get(name);
    if (row === undefined) throw new Error("No id was reserved.");
    return row.next_id - 1;
  }
  return { ...userStatements(db, nextId), ...sessionStatements(db), ...tokenStatements(db, nextId) };
}

type NextId = (name: "users" | "api_tokens") => number;

function userStatements(db: Database, nextId: NextId): Pick<AccountStore, "insertUser" | "findUserByEmail"> {
  const taken = db.writer.prepare<[string], { id: number }>("SELECT id FROM users WHERE email = ?");
  const insert = db.writer.prepare<[number, string, string, number, number, number]>(
    "INSERT INTO users (id, email, password_hash, admin, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const find = db.reader.prepare<[string], UserRow & { password_hash: string }>(
    `SELECT ${userColumns}, password_hash FROM users WHERE email = ?`,
  );
  return {
    insertUser: ({ email, passwordHash, admin, now }) =>
      db.write(() => {
        if (taken.get(email) !== undefined) return undefined;
        const id = nextId("users");
        insert.run(id, email, passwordHash, admin ? 1 : 0, now, now);
        return { id, email, admin, createdAt: now };
      }),
    findUserByEmail(email) {
      const row = find.get(email);
      return row === undefined ? undefined : { user: toUser(row), passwordHash: row.password_hash };
    },
  };
}

type SessionPart = "insertSession" | "findSession" | "recordSessionUse" | "deleteSession" | "deleteSessionsSeenBefore";

function sessionStatements(db: Database): Pick<AccountStore, SessionPart> {
  const insert = db.writer.prepare<[Buffer, number, number, number]>(
    "INSERT INTO sessions (digest, user_id, created_at, seen_at) VALUES (?, ?, ?, ?)",
  );
  const dropOldest = db.writer.prepare<[number, number]>(
    `DELETE FROM sessions WHERE digest IN
       (SELECT digest FROM sessions WHERE user_id = ? ORDER BY created_at DESC, digest LIMIT -1 OFFSET ?)`,
  );
  const find = db.reader.prepare<[Buffer], UserRow & { session_created_at: number; seen_at: number }>(
    `SELECT ${userColumns}, sessions.created_at AS session_created_at, seen_at
     FROM sessions JOIN users ON users.id = user_id WHERE digest = ?`,
  );
  const recordUse = db.writer.prepare<[number, Buffer]>("UPDATE sessions SET seen_at = ? WHERE digest = ?");
  const remove = db.writer.prepare<[Buffer]>("DELETE FROM sessions WHERE digest = ?");
  const removeIdle = db.writer.prepare<[number, number]>(
    "DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions WHERE seen_at <= ? ORDER BY seen_at LIMIT ?)",
  );
  return {
    insertSession: ({ digest, userId, now, perUserMax }) =>
      db.write(() => {
        // Before the new one comes, so that it stays whatever the clock did since the others began.
        dropOldest.run(userId, perUserMax - 1);
        insert.run(digest, userId, now, now);
      }),
    findSession(digest) {
      const row = find.get(digest);
      if (row === undefined) return undefined;
      return { user: toUser(row), createdAt: row.session_created_at, seenAt: row.seen_at };
    },
    recordSessionUse: (digest, now) => db.write(() => void recordUse.run(now, digest)),
    deleteSession: (digest) => db.write(() => void remove.run(digest)),
    deleteSessionsSeenBefore: (seenAt, sessionsMax) => db.write(() => removeIdle.run(seenAt, sessionsMax).changes),
  };
}

type TokenPart = "insertToken" | "listTokens" | "revokeToken" | "findToken" | "recordTokenUse";

function tokenStatements(db: Database, nextId: NextId): Pick<AccountStore, TokenPart> {
  const inUse = db.writer.prepare<[number], { count: number }>(
    "SELECT count(*) AS count FROM api_tokens WHERE user_id = ? AND revoked_at IS NULL",
  );
  const forget = db.writer.prepare<[number, number]>(
    `DELETE FROM api_tokens WHERE id IN
       (SELECT id FROM api_tokens WHERE user_id = ? AND revoked_at IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)`,
  );
  const insert = db.writer.prepare<[number, number, string, Buffer, number], TokenRow>(
    `INSERT INTO api_tokens (id, user_id, name, digest, created_at) VALUES (?, ?, ?, ?, ?)
     RETURNING id, name, created_at, last_used_at, revoked_at`,
  );
  const list = db.reader.prepare<[number], TokenRow>(
    "SELECT id, name, created_at, last_used_at, revoked_at FROM api_tokens WHERE user_id = ? ORDER BY id DESC",
  );
  const revoke = db.writer.prepare<[number, number, number]>(
    "UPDATE api_tokens SET revoked_at = ? WHERE id = ? AND user_id = ? AND revoked_at IS NULL",
  );
  const find = db.reader.prepare<[Buffer], UserRow & { token_id: number; last_used_at: number | null }>(
    `SELECT ${userColumns}, api_tokens.id AS token_id, last_used_at
     FROM api_tokens JOIN users ON users.id = user_id WHERE digest = ? AND revoked_at IS NULL`,
  );
  const recordUse = db.writer.prepare<[number, number]>("UPDATE api_tokens SET last_used_at = ? WHERE id = ?");
  return {
    insertToken: ({ userId, name, digest, now, inUseMax, revokedKeptMax }) =>
      db.write(() => {
        if ((inUse.get(userId)?.count ?? 0) >= inUseMax) return undefined;
        forget.run(userId, revokedKeptMax);
        const row = insert.get(nextId("api_tokens"), userId, name, digest, now);
        if (row === undefined) throw new Error("The API token was not stored.");
        return toToken(row);
      }),
    listTokens: (userId) => list.all(userId).map(toToken),
    revokeToken: (userId, tokenId, now) => db.write(() => revoke.run(now, tokenId, userId).changes === 1),
    findToken(digest) {
      const row = find.get(digest);
      return row === undefined ? undefined : { tokenId: row.token_id, lastUsedAt: row.last_used_at, user: toUser(row) };
    },
    recordTokenUse: (tokenId, now) => db.write(() => void recordUse.run(now, tokenId)),
  };
}
