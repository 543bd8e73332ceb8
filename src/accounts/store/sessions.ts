import { userAgentLengthMax } from "../../base/user-agent.ts";
import type { Database, Transaction, WriteConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { ClientContext, ListedSession, Session, User } from "../account.ts";
import { allBeyond, nextId, toUser, type UserRow, userColumns } from "./users.ts";

export interface NewSession {
  readonly digest: Buffer;
  readonly userId: number;
  /** Whatever the user still had to show has been shown. */
  readonly complete: boolean;
  /** The session that has waited for it until now; null: there is none. `since`: one begun earlier waits no longer. */
  readonly replaces: { readonly digest: Buffer; readonly since: number } | null;
  readonly client: ClientContext;
  readonly now: number;
  /** The user's oldest sessions beyond it end. */
  readonly perUserMax: number;
  /** Runs in the same transaction, after every other guard; false: no session. */
  readonly provided: (tx: Transaction) => Promise<boolean>;
  /** Runs in the same transaction, when the session waits for nothing. */
  readonly onComplete: (tx: Transaction, user: User) => Promise<void>;
}

type Row = UserRow & { session_id: number; session_created_at: number; seen_at: number; waits_for_factor: number };

const byDigest = sql<[digest: Buffer], Row>(
  `SELECT ${userColumns}, sessions.id AS session_id, sessions.created_at AS session_created_at, seen_at, waits_for_factor
   FROM sessions JOIN users ON users.id = sessions.user_id WHERE digest = ? AND disabled_at IS NULL`,
);
const sessionsOf = sql<[userId: number, seenAfter: number, createdAfter: number], ListedSession>(
  `SELECT id, created_at AS createdAt, seen_at AS seenAt, address, user_agent AS userAgent FROM sessions
   WHERE user_id = ? AND waits_for_factor = 0 AND seen_at > ? AND created_at > ? ORDER BY seen_at DESC, id DESC`,
);
const recordUse = sql<[now: number, digest: Buffer]>("UPDATE sessions SET seen_at = ? WHERE digest = ?");
const removeSession = sql<[digest: Buffer]>("DELETE FROM sessions WHERE digest = ?");
const removeSessionOf = sql<[sessionId: number, userId: number]>("DELETE FROM sessions WHERE id = ? AND user_id = ?");
const idle = "SELECT digest FROM sessions WHERE seen_at <= ? ORDER BY seen_at LIMIT ?";
const removeIdle = sql<[seenAt: number, sessionsMax: number]>({
  sqlite: `DELETE FROM sessions WHERE digest IN (${idle})`,
  // As an array, which is read once: a join could run the limited reading anew for each row.
  postgres: `DELETE FROM sessions WHERE digest = ANY (ARRAY(${idle} FOR UPDATE SKIP LOCKED))`,
});

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore(db: Database) {
  const { read } = db;
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });
  const idempotent = db.autocommit({ retry: "idempotent" });
  return {
    /** false: the user is gone or disabled, the session to replace waits no longer, or `provided` said so. */
    insertSession: (session: NewSession): Promise<boolean> =>
      db.writeSerialized("accounts", (tx) => insert(tx, session)),
    /** Never one of a disabled user. */
    async findSession(digest: Buffer): Promise<(Omit<Session, "formToken"> & { seenAt: number }) | undefined> {
      const row = await read.one(byDigest, digest);
      if (row === undefined) return undefined;
      return {
        id: row.session_id,
        user: toUser(row),
        waitsForFactor: row.waits_for_factor === 1,
        createdAt: row.session_created_at,
        seenAt: row.seen_at,
      };
    },
    /** Complete ones, seen after `seenAfter` and begun after `createdAfter`; last seen first. */
    listSessions: (userId: number, seenAfter: number, createdAfter: number): Promise<readonly ListedSession[]> =>
      read.all(sessionsOf, userId, seenAfter, createdAfter),
    async recordSessionUse(digest: Buffer, now: number): Promise<void> {
      await autocommit.run(recordUse, now, digest);
    },
    async deleteSession(digest: Buffer): Promise<void> {
      await idempotent.run(removeSession, digest);
    },
    /** false: no such session of that user. */
    deleteSessionOf: async (userId: number, sessionId: number): Promise<boolean> =>
      (await autocommit.run(removeSessionOf, sessionId, userId)) === 1,
    deleteOtherSessions: (userId: number, keptId: number): Promise<void> => endSessions(idempotent, userId, keptId),
    /** @returns how many were deleted, at most `sessionsMax`. */
    deleteSessionsSeenBefore: (seenAt: number, sessionsMax: number): Promise<number> =>
      autocommit.run(removeIdle, seenAt, sessionsMax),
  };
}

const userById = sql<[userId: number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
const waitingSession = sql<[digest: Buffer, userId: number, since: number], { one: number }>(
  "SELECT 1 AS one FROM sessions WHERE digest = ? AND user_id = ? AND waits_for_factor = 1 AND created_at > ?",
);
const dropOldest = sql<[userId: number, keptMax: number]>(
  `DELETE FROM sessions WHERE digest IN
     (SELECT digest FROM sessions WHERE user_id = ? ORDER BY created_at DESC, digest ${allBeyond})`,
);
const insertRow = sql<
  [
    digest: Buffer,
    id: number,
    userId: number,
    createdAt: number,
    seenAt: number,
    waits: number,
    address: string,
    userAgent: string,
  ]
>(
  `INSERT INTO sessions (digest, id, user_id, created_at, seen_at, waits_for_factor, address, user_agent)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const recordSignIn = sql<[now: number, userId: number]>("UPDATE users SET last_signed_in_at = ? WHERE id = ?");

/** In a transaction of the accounts' turn. It writes nothing where it refuses. */
async function insert(tx: Transaction, session: NewSession): Promise<boolean> {
  const { digest, userId, complete, replaces, client, now, perUserMax, provided, onComplete } = session;
  // What the user is now decides, not what it was when the sign-in began.
  const row = await tx.one(userById, userId);
  if (row === undefined || row.disabled_at !== null) return false;
  if (replaces !== null) {
    const waiting = await tx.one(waitingSession, replaces.digest, userId, replaces.since);
    if (waiting === undefined) return false;
  }
  if (!(await provided(tx))) return false;
  if (replaces !== null) await tx.run(removeSession, replaces.digest);
  // Before the new one comes, so that it stays whatever the clock did since the others began.
  await tx.run(dropOldest, userId, perUserMax - 1);
  const waits = !complete && row.has_second_factor === 1;
  const userAgent = client.userAgent.slice(0, userAgentLengthMax);
  const id = await nextId(tx, "sessions");
  await tx.run(insertRow, digest, id, userId, now, now, waits ? 1 : 0, client.address, userAgent);
  if (waits) return true;
  await tx.run(recordSignIn, now, userId);
  await onComplete(tx, toUser(row));
  return true;
}

const removeSessions = sql<[userId: number, exceptId: number | null]>(
  "DELETE FROM sessions WHERE user_id = ? AND id IS DISTINCT FROM ?",
);

/**
 * What must happen together with a change of password or factors: whoever else is signed in no longer is.
 * @param exceptId the session that made the change; null: none stays.
 */
export async function endSessions(tx: WriteConnection, userId: number, exceptId: number | null): Promise<void> {
  await tx.run(removeSessions, userId, exceptId);
}
