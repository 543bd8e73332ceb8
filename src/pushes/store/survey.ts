import type { ReadConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { PushSurveys } from "../store.ts";
import type { PushTotals, SurveyedPush } from "../surveyed-push.ts";
import { endReasonOf, kindOf } from "./rows.ts";

interface RawSurveyed extends Omit<SurveyedPush, "kind" | "endReason" | "passphraseRequired"> {
  readonly kind: number;
  readonly endReason: number | null;
  readonly passphraseRequired: number;
}

const surveyedBefore = sql<[pushId: number, limit: number], RawSurveyed>(
  `SELECT id, kind, owner_id AS ownerId, created_at AS createdAt, expires_at AS expiresAt, ended_at AS endedAt,
     end_reason AS endReason, views, expire_after_views AS expireAfterViews, stored_bytes AS storedBytes,
     CASE WHEN passphrase_salt IS NOT NULL THEN 1 ELSE 0 END AS passphraseRequired
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
      (await read.all(surveyedBefore, pushId, limit)).map((raw) => ({
        ...raw,
        kind: kindOf(raw.kind),
        endReason: raw.endReason === null ? null : endReasonOf(raw.endReason),
        passphraseRequired: raw.passphraseRequired === 1,
      })),
    totals: async () => {
      const row = await read.one(totals);
      if (row === undefined) throw new Error("The totals were not counted.");
      return row;
    },
  };
}
