import type { Database } from "../../db/sqlite.ts";

/** Functions whose names begin with `note` run inside a unit of `db.write`. */
export interface KnownPlaceStore {
  /** Keeps the `perUserMax` places seen last. @returns whether it was known before; "first": no place was. */
  notePlace(userId: number, digest: Buffer, now: number, perUserMax: number): "known" | "new" | "first";
  hasPlace(userId: number, digest: Buffer): boolean;
}

export function createKnownPlaceStore(db: Database): KnownPlaceStore {
  const seeAgain = db.writer.prepare<[number, number, Buffer]>(
    "UPDATE known_places SET seen_at = ? WHERE user_id = ? AND digest = ?",
  );
  const any = db.writer.prepare<[number], { user_id: number }>(
    "SELECT user_id FROM known_places WHERE user_id = ? LIMIT 1",
  );
  const dropOldest = db.writer.prepare<[number, number, number]>(
    `DELETE FROM known_places WHERE user_id = ? AND digest IN
       (SELECT digest FROM known_places WHERE user_id = ? ORDER BY seen_at DESC, digest LIMIT -1 OFFSET ?)`,
  );
  const insert = db.writer.prepare<[number, Buffer, number]>(
    "INSERT INTO known_places (user_id, digest, seen_at) VALUES (?, ?, ?)",
  );
  const find = db.reader.prepare<[number, Buffer], { user_id: number }>(
    "SELECT user_id FROM known_places WHERE user_id = ? AND digest = ?",
  );
  return {
    notePlace(userId, digest, now, perUserMax) {
      if (seeAgain.run(now, userId, digest).changes === 1) return "known";
      const first = any.get(userId) === undefined;
      // Before the new one comes, so that it stays whatever the clock did since the others were seen.
      dropOldest.run(userId, userId, perUserMax - 1);
      insert.run(userId, digest, now);
      return first ? "first" : "new";
    },
    hasPlace: (userId, digest) => find.get(userId, digest) !== undefined,
  };
}
