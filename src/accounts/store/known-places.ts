import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { allBeyond } from "./rows.ts";

export interface KnownPlaceStore {
  /**
   * For a transaction of the accounts' turn. Keeps the `perUserMax` places seen last.
   * @returns whether it was known before; "first": no place was.
   */
  notePlace(
    tx: Transaction,
    userId: number,
    digest: Buffer,
    now: number,
    perUserMax: number,
  ): Promise<"known" | "new" | "first">;
  hasPlace(userId: number, digest: Buffer): Promise<boolean>;
}

const seeAgain = sql<[now: number, userId: number, digest: Buffer]>(
  "UPDATE known_places SET seen_at = ? WHERE user_id = ? AND digest = ?",
);
const anyPlace = sql<[userId: number], { one: number }>("SELECT 1 AS one FROM known_places WHERE user_id = ? LIMIT 1");
const dropOldest = sql<[userId: number, sameUserId: number, keptMax: number]>(
  `DELETE FROM known_places WHERE user_id = ? AND digest IN
     (SELECT digest FROM known_places WHERE user_id = ? ORDER BY seen_at DESC, digest ${allBeyond})`,
);
const insertPlace = sql<[userId: number, digest: Buffer, now: number]>(
  "INSERT INTO known_places (user_id, digest, seen_at) VALUES (?, ?, ?)",
);
const findPlace = sql<[userId: number, digest: Buffer], { one: number }>(
  "SELECT 1 AS one FROM known_places WHERE user_id = ? AND digest = ?",
);

export function createKnownPlaceStore({ read }: Database): KnownPlaceStore {
  return {
    async notePlace(tx, userId, digest, now, perUserMax) {
      if ((await tx.run(seeAgain, now, userId, digest)) === 1) return "known";
      const first = (await tx.one(anyPlace, userId)) === undefined;
      // Before the new one comes, so that it stays whatever the clock did since the others were seen.
      await tx.run(dropOldest, userId, userId, perUserMax - 1);
      await tx.run(insertPlace, userId, digest, now);
      return first ? "first" : "new";
    },
    hasPlace: async (userId, digest) => (await read.one(findPlace, userId, digest)) !== undefined,
  };
}
