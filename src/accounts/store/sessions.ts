import { userAgentLengthMax } from "../../base/user-agent.ts";
import type { Database } from "../../db/sqlite.ts";
import type { ListedSession, Place, Session, User } from "../account.ts";
import { countedIds } from "./counted-ids.ts";
import { prepareEndSessions } from "./end-sessions.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

export interface NewSession {
  readonly digest: Buffer;
  readonly userId: number;
  /** Whatever the user still had to show has been shown. */
  readonly complete: boolean;
  /** The session that has waited for it until now; null: there is none. `since`: one begun earlier waits no longer. */
  readonly replaces: { readonly digest: Buffer; readonly since: number } | null;
  readonly place: Place;
  readonly now: number;
  /** The user's oldest sessions beyond it end. */
  readonly perUserMax: number;
  /** Runs in the same unit, after every other guard; false: no session. */
  readonly provided: () => boolean;
  /** Runs in the same unit, when the session waits for nothing. */
  readonly onComplete: (user: User) => void;
}

export interface SessionStore {
  /** false: the user is gone or disabled, the session to replace waits no longer, or `provided` said so. */
  insertSession(session: NewSession): Promise<boolean>;
  /** Never one of a disabled user. */
  findSession(digest: Buffer): (Omit<Session, "formToken"> & { seenAt: number }) | undefined;
  /** Complete ones, seen after `seenAfter` and begun after `createdAfter`; last seen first. */
  listSessions(userId: number, seenAfter: number, createdAfter: number): ListedSession[];
  recordSessionUse(digest: Buffer, now: number): Promise<void>;
  deleteSession(digest: Buffer): Promise<void>;
  /** false: no such session of that user. */
  deleteSessionOf(userId: number, sessionId: number): Promise<boolean>;
  deleteOtherSessions(userId: number, keptId: number): Promise<void>;
  /** @returns how many were deleted, at most `sessionsMax`. */
  deleteSessionsSeenBefore(seenAt: number, sessionsMax: number): Promise<number>;
}

type Row = UserRow & { session_id: number; session_created_at: number; seen_at: number; waits_for_factor: number };

export function createSessionStore(db: Database): SessionStore {
  const endSessions = prepareEndSessions(db);
  const find = db.reader.prepare<[Buffer], Row>(
    `SELECT ${userColumns}, sessions.id AS session_id, sessions.created_at AS session_created_at, seen_at, waits_for_factor
     FROM sessions JOIN users ON users.id = sessions.user_id WHERE digest = ? AND disabled_at IS NULL`,
  );
  const list = db.reader.prepare<[number, number, number], ListedSession>(
    `SELECT id, created_at AS createdAt, seen_at AS seenAt, address, user_agent AS userAgent FROM sessions
     WHERE user_id = ? AND waits_for_factor = 0 AND seen_at > ? AND created_at > ? ORDER BY seen_at DESC, id DESC`,
  );
  const recordUse = db.writer.prepare<[number, Buffer]>("UPDATE sessions SET seen_at = ? WHERE digest = ?");
  const remove = db.writer.prepare<[Buffer]>("DELETE FROM sessions WHERE digest = ?");
  const removeOf = db.writer.prepare<[number, number]>("DELETE FROM sessions WHERE id = ? AND user_id = ?");
  const removeIdle = db.writer.prepare<[number, number]>(
    "DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions WHERE seen_at <= ? ORDER BY seen_at LIMIT ?)",
  );
  const insert = prepareInsert(db);
  return {
    insertSession: (session) => db.write(() => insert(session)),
    findSession(digest) {
      const row = find.get(digest);
      if (row === undefined) return undefined;
      return {
        id: row.session_id,
        user: toUser(row),
        waitsForFactor: row.waits_for_factor === 1,
        createdAt: row.session_created_at,
        seenAt: row.seen_at,
      };
    },
    listSessions: (userId, seenAfter, createdAfter) => list.all(userId, seenAfter, createdAfter),
    recordSessionUse: (digest, now) => db.write(() => void recordUse.run(now, digest)),
    deleteSession: (digest) => db.write(() => void remove.run(digest)),
    deleteSessionOf: (userId, sessionId) => db.write(() => removeOf.run(sessionId, userId).changes === 1),
    deleteOtherSessions: (userId, keptId) => db.write(() => endSessions(userId, keptId)),
    deleteSessionsSeenBefore: (seenAt, sessionsMax) => db.write(() => removeIdle.run(seenAt, sessionsMax).changes),
  };
}

/** @returns the step that starts a session, to run inside a unit of `db.write`. It writes nothing where it refuses. */
function prepareInsert(db: Database): (session: NewSession) => boolean {
  const nextId = countedIds(db);
  const freshUser = db.writer.prepare<[number], UserRow>(`SELECT ${userColumns} FROM users WHERE id = ?`);
  const findWaiting = db.writer.prepare<[Buffer, number, number], { id: number }>(
    "SELECT id FROM sessions WHERE digest = ? AND user_id = ? AND waits_for_factor = 1 AND created_at > ?",
  );
  const remove = db.writer.prepare<[Buffer]>("DELETE FROM sessions WHERE digest = ?");
  const dropOldest = db.writer.prepare<[number, number]>(
    `DELETE FROM sessions WHERE digest IN
       (SELECT digest FROM sessions WHERE user_id = ? ORDER BY created_at DESC, digest LIMIT -1 OFFSET ?)`,
  );
  const insert = db.writer.prepare<[Buffer, number, number, number, number, number, string, string]>(
    `INSERT INTO sessions (digest, id, user_id, created_at, seen_at, waits_for_factor, address, user_agent)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const recordSignIn = db.writer.prepare<[number, number]>("UPDATE users SET last_signed_in_at = ? WHERE id = ?");
  return ({ digest, userId, complete, replaces, place, now, perUserMax, provided, onComplete }) => {
    // What the user is now decides, not what it was when the sign-in began.
    const row = freshUser.get(userId);
    if (row === undefined || row.disabled_at !== null) return false;
    if (replaces !== null && findWaiting.get(replaces.digest, userId, replaces.since) === undefined) return false;
    if (!provided()) return false;
    if (replaces !== null) remove.run(replaces.digest);
    // Before the new one comes, so that it stays whatever the clock did since the others began.
    dropOldest.run(userId, perUserMax - 1);
    const waits = !complete && row.has_second_factor === 1;
    const userAgent = place.userAgent.slice(0, userAgentLengthMax);
    insert.run(digest, nextId("sessions"), userId, now, now, waits ? 1 : 0, place.address, userAgent);
    if (waits) return true;
    recordSignIn.run(now, userId);
    onComplete(toUser(row));
    return true;
  };
}
