import type { Database } from "../../db/sqlite.ts";
import type { Place, Session } from "../account.ts";
import { countedIds } from "./counted-ids.ts";
import { toUser, type UserRow, userColumns } from "./rows.ts";

export interface SessionStore {
  /** Ends the user's oldest sessions beyond `perUserMax`. */
  insertSession(session: {
    digest: Buffer;
    userId: number;
    waitsForFactor: boolean;
    place: Place;
    now: number;
    perUserMax: number;
  }): Promise<void>;
  /** Never one of a disabled user. */
  findSession(digest: Buffer): (Omit<Session, "formToken"> & { seenAt: number }) | undefined;
  recordSessionUse(digest: Buffer, now: number): Promise<void>;
  deleteSession(digest: Buffer): Promise<void>;
  /** @returns how many were deleted, at most `sessionsMax`. */
  deleteSessionsSeenBefore(seenAt: number, sessionsMax: number): Promise<number>;
}

type Row = UserRow & { session_id: number; session_created_at: number; seen_at: number; waits_for_factor: number };

export function createSessionStore(db: Database): SessionStore {
  const nextId = countedIds(db);
  const insert = db.writer.prepare<[Buffer, number, number, number, number, number, string, string]>(
    `INSERT INTO sessions (digest, id, user_id, created_at, seen_at, waits_for_factor, address, user_agent)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const dropOldest = db.writer.prepare<[number, number]>(
    `DELETE FROM sessions WHERE digest IN
       (SELECT digest FROM sessions WHERE user_id = ? ORDER BY created_at DESC, digest LIMIT -1 OFFSET ?)`,
  );
  const find = db.reader.prepare<[Buffer], Row>(
    `SELECT ${userColumns}, sessions.id AS session_id, sessions.created_at AS session_created_at, seen_at, waits_for_factor
     FROM sessions JOIN users ON users.id = sessions.user_id WHERE digest = ? AND disabled_at IS NULL`,
  );
  const recordUse = db.writer.prepare<[number, Buffer]>("UPDATE sessions SET seen_at = ? WHERE digest = ?");
  const remove = db.writer.prepare<[Buffer]>("DELETE FROM sessions WHERE digest = ?");
  const removeIdle = db.writer.prepare<[number, number]>(
    "DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions WHERE seen_at <= ? ORDER BY seen_at LIMIT ?)",
  );
  return {
    insertSession: ({ digest, userId, waitsForFactor, place, now, perUserMax }) =>
      db.write(() => {
        // Before the new one comes, so that it stays whatever the clock did since the others began.
        dropOldest.run(userId, perUserMax - 1);
        const id = nextId("sessions");
        insert.run(digest, id, userId, now, now, waitsForFactor ? 1 : 0, place.address, place.userAgent);
      }),
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
    recordSessionUse: (digest, now) => db.write(() => void recordUse.run(now, digest)),
    deleteSession: (digest) => db.write(() => void remove.run(digest)),
    deleteSessionsSeenBefore: (seenAt, sessionsMax) => db.write(() => removeIdle.run(seenAt, sessionsMax).changes),
  };
}
