import { userAgentLengthMax } from "../../base/user-agent.ts";
import type { Database, Transaction, WriteConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { boolean, integer, type StoredRowOf, Table } from "../../database/table.ts";
import type { ClientContext, ListedSession, Session, User } from "../account.ts";
import { sessions } from "./tables.ts";
import { allBeyond, nextId, toUser, type UserRow, userById, userColumns } from "./users.ts";

export interface NewSession {
  readonly digest: Buffer;
  readonly userId: number;
  /** The user has already shown every factor. */
  readonly complete: boolean;
  /** The session that has waited for the second factor; null: none. It must have begun after `since`. */
  readonly replaces: { readonly digest: Buffer; readonly since: number } | null;
  readonly client: ClientContext;
  readonly now: number;
  /** The user's oldest sessions beyond it end. */
  readonly perUserMax: number;
  /** Runs in the same transaction, after every other check; false: no session is started. */
  readonly provided: (tx: Transaction) => Promise<boolean>;
  /** Runs in the same transaction when the session is complete. */
  readonly onComplete: (tx: Transaction, user: User) => Promise<void>;
}

/** A session as it is read together with its user. */
const sessionView = new Table("sessions", {
  sessionId: integer,
  sessionCreatedAt: integer,
  seenAt: integer,
  waitsForFactor: boolean,
});
const sessionColumns = sessionView.selectExpressions({
  sessionId: "sessions.id",
  sessionCreatedAt: "sessions.created_at",
  seenAt: "sessions.seen_at",
  waitsForFactor: "sessions.waits_for_factor",
});

const byDigest = sql<[digest: Buffer], UserRow & StoredRowOf<typeof sessionView>>(
  `SELECT ${userColumns}, ${sessionColumns}
   FROM sessions JOIN users ON users.id = sessions.user_id WHERE digest = ? AND disabled_at IS NULL`,
);
const sessionsOf = sessions
  .pick("id", "createdAt", "seenAt", "address", "userAgent")
  .select<[userId: number, seenAfter: number, createdAfter: number]>(
    `WHERE user_id = ? AND waits_for_factor = 0 AND seen_at > ? AND created_at > ? ORDER BY seen_at DESC, id DESC`,
  );
const recordUse = sql<[now: number, digest: Buffer]>("UPDATE sessions SET seen_at = ? WHERE digest = ?");
const removeSession = sql<[digest: Buffer]>("DELETE FROM sessions WHERE digest = ?");
const removeSessionOf = sql<[sessionId: number, userId: number]>("DELETE FROM sessions WHERE id = ? AND user_id = ?");
const removeSessions = sql<[userId: number, exceptId: number | null]>(
  "DELETE FROM sessions WHERE user_id = ? AND id IS DISTINCT FROM ?",
);
const idle = "SELECT digest FROM sessions WHERE seen_at <= ? ORDER BY seen_at LIMIT ?";
const removeIdle = sql<[seenAt: number, sessionsMax: number]>({
  sqlite: `DELETE FROM sessions WHERE digest IN (${idle})`,
  // As an array, which is evaluated once: a join could run the limited SELECT again for each row.
  postgres: `DELETE FROM sessions WHERE digest = ANY (ARRAY(${idle} FOR UPDATE SKIP LOCKED))`,
});
const waitingSession = sql<[digest: Buffer, userId: number, since: number], { one: number }>(
  "SELECT 1 AS one FROM sessions WHERE digest = ? AND user_id = ? AND waits_for_factor = 1 AND created_at > ?",
);
const dropOldest = sql<[userId: number, keptMax: number]>(
  `DELETE FROM sessions WHERE digest IN
     (SELECT digest FROM sessions WHERE user_id = ? ORDER BY created_at DESC, digest ${allBeyond})`,
);
const insertRow = sessions.insert();
const recordSignIn = sql<[now: number, userId: number]>("UPDATE users SET last_signed_in_at = ? WHERE id = ?");

/**
 * Part of every change of a password or of factors: ends the user's other sessions.
 * @param exceptId the session that makes the change; null: all sessions end.
 */
export async function endSessions(tx: WriteConnection, userId: number, exceptId: number | null): Promise<void> {
  await tx.run(removeSessions, userId, exceptId);
}

/** Requires the accounts lock. Writes nothing when it refuses. */
async function insert(tx: Transaction, session: NewSession): Promise<boolean> {
  const { digest, userId, complete, replaces, client, now, perUserMax, provided, onComplete } = session;
  // Read again: the user may have changed since the sign-in began.
  const row = await tx.one(userById, userId);
  const user = row === undefined ? undefined : toUser(row);
  if (user === undefined || user.disabledAt !== null) return false;
  if (replaces !== null) {
    const waiting = await tx.one(waitingSession, replaces.digest, userId, replaces.since);
    if (waiting === undefined) return false;
  }
  if (!(await provided(tx))) return false;
  if (replaces !== null) await tx.run(removeSession, replaces.digest);
  // Before the new session is inserted: it must stay even if the clock was set back since the others began.
  await tx.run(dropOldest, userId, perUserMax - 1);
  const waitsForFactor = !complete && user.hasSecondFactor;
  const userAgent = client.userAgent.slice(0, userAgentLengthMax);
  const id = await nextId(tx, "sessions");
  const { address } = client;
  await tx.run(
    insertRow,
    ...sessions.values({ digest, id, userId, createdAt: now, seenAt: now, waitsForFactor, address, userAgent }),
  );
  if (waitsForFactor) return true;
  await tx.run(recordSignIn, now, userId);
  await onComplete(tx, user);
  return true;
}

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore(db: Database) {
  const { read } = db;
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });
  const idempotent = db.autocommit({ retry: "idempotent" });
  return {
    /** @returns false: the user is gone or disabled, the session to replace no longer waits, or `provided` returned false. */
    insertSession: (session: NewSession): Promise<boolean> =>
      db.writeSerialized("accounts", (tx) => insert(tx, session)),

    /** @returns undefined also for a session of a disabled user. */
    async findSession(digest: Buffer): Promise<(Omit<Session, "formToken"> & { seenAt: number }) | undefined> {
      const row = await read.one(byDigest, digest);
      if (row === undefined) return undefined;
      const { sessionId, sessionCreatedAt, seenAt, waitsForFactor } = sessionView.decode(row);
      return { id: sessionId, user: toUser(row), waitsForFactor, createdAt: sessionCreatedAt, seenAt };
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

    /** @returns false: the user has no such session. */
    deleteSessionOf: async (userId: number, sessionId: number): Promise<boolean> =>
      (await autocommit.run(removeSessionOf, sessionId, userId)) === 1,

    deleteOtherSessions: (userId: number, keptId: number) => endSessions(idempotent, userId, keptId),

    /** @returns how many were deleted, at most `sessionsMax`. */
    deleteSessionsSeenBefore: (seenAt: number, sessionsMax: number): Promise<number> =>
      autocommit.run(removeIdle, seenAt, sessionsMax),
  };
}
