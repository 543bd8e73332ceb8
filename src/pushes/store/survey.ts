import type { ReadConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { StoredRowOf } from "../../database/table.ts";
import type { PushSurveys } from "../store.ts";
import type { PushTotals } from "../surveyed-push.ts";
import { pushes } from "./tables.ts";

const surveyed = pushes.pick(
  "id",
  "kind",
  "ownerId",
  "createdAt",
  "expiresAt",
  "endedAt",
  "endReason",
  "views",
  "expireAfterViews",
  "storedBytes",
);
const surveyedBefore = sql<
  [pushId: number, limit: number],
  StoredRowOf<typeof surveyed> & { passphraseRequired: number }
>(
  `SELECT ${surveyed.selectList}, CASE WHEN passphrase_salt IS NOT NULL THEN 1 ELSE 0 END AS passphraseRequired
   FROM pushes WHERE id < ? ORDER BY id DESC LIMIT ?`,
);
const totals = sql<[], PushTotals>(
  `SELECT (SELECT count(*) FROM pushes WHERE ended_at IS NULL) AS live,
     (SELECT count(*) FROM pushes WHERE ended_at IS NOT NULL AND owner_id IS NULL)
       + (SELECT count(*) FROM pushes WHERE ended_at IS NOT NULL AND owner_id IS NOT NULL) AS ended,
     (SELECT count(*) FROM files) AS files,
     (SELECT coalesce(sum(size_bytes), 0) FROM files) AS fileBytes,
     (SELECT count(*) FROM blob_deletions) AS filesToDelete,
     (SELECT count(*) FROM uploads) AS uploads`,
);

export function createSurveys(read: ReadConnection): PushSurveys {
  return {
    before: async (pushId, limit) =>
      (await read.all(surveyedBefore, pushId, limit)).map((stored) => ({
        ...surveyed.decode(stored),
        passphraseRequired: stored.passphraseRequired === 1,
      })),
    totals: async () => {
      const row = await read.one(totals);
      if (row === undefined) throw new Error("The totals were not counted.");
      return row;
    },
  };
}
