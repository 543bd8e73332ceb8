import type { Database, InTransaction } from "../../database/database.ts";
import { sql, type Value } from "../../database/statement.ts";
import type { NewRowOf, StoredRowOf } from "../../database/table.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import { auditKinds, endReasons } from "../stored-values.ts";
import { type BulkEnding, bulkEndings, pushes } from "./tables.ts";
import { endPush, sqlOfFreeRows } from "./write-operations.ts";

const newBulkEndings = bulkEndings.omit("id");
export type NewBulkEnding = NewRowOf<typeof newBulkEndings>;

const candidateColumns = pushes.pick("id", "createdAt", "endedAt", "ownerId", "storedBytes");

/** A push, with what a request can select it by. */
export interface EndingCandidate extends StoredRowOf<typeof candidateColumns> {
  /** The client that created it; "": not known. */
  readonly address: string;
  /** 1: a limit has ended it, but claims can be repeated or files downloaded. */
  readonly lingers: number;
}

const finishedKept = 100;

const insert = sql<Value[], { id: number }>(`${newBulkEndings.insertText()} RETURNING id`);
const byId = bulkEndings.select<[id: number]>("WHERE id = ?");
const removeOld = sql<[kept: number]>(
  "DELETE FROM bulk_endings WHERE finished_at IS NOT NULL AND id <= (SELECT max(id) FROM bulk_endings) - ?",
);
const latest = bulkEndings.select<[limit: number]>("ORDER BY id DESC LIMIT ?");
const nextOpen = sqlOfFreeRows<[], StoredRowOf<typeof bulkEndings>>(
  `SELECT ${bulkEndings.selectList} FROM bulk_endings WHERE finished_at IS NULL ORDER BY id LIMIT 1`,
);
const progress = sql<[lastId: number, ended: number, bytes: number, finishedAt: number | null, id: number]>(
  `UPDATE bulk_endings SET last_id = ?, ended = ended + CAST(? AS BIGINT), ended_bytes = ended_bytes + CAST(? AS BIGINT),
     finished_at = ? WHERE id = ?`,
);
/**
 * In the order of ids, which never change. The creation is the first entry of each trail; an anonymous push that was created
 * here has the address in its row while it is live.
 */
const candidates = sql<[id: number, limit: number], EndingCandidate>(
  // No join: a plan for an unknown LIMIT could read all entries.
  `SELECT ${candidateColumns.selectList},
     coalesce(creator_address, (SELECT address FROM audit_entries
       WHERE push_id = pushes.id AND sequence = 1 AND kind = ${auditKinds.creation}), '') AS address,
     CASE WHEN end_reason IN (${endReasons.views}, ${endReasons.time})
       AND (EXISTS (SELECT 1 FROM claim_retries WHERE push_id = pushes.id)
         OR EXISTS (SELECT 1 FROM download_tickets WHERE push_id = pushes.id)) THEN 1 ELSE 0 END AS lingers
   FROM pushes WHERE id > ? ORDER BY id LIMIT ?`,
);

/** Requests to end all pushes that match. */
export function createBulkEndings(db: Database) {
  return {
    /** @param together writes in the same transaction. */
    start: (request: NewBulkEnding, together: InTransaction): Promise<number> =>
      db.write(async (tx) => {
        const inserted = await tx.one(insert, ...newBulkEndings.values(request));
        if (inserted === undefined) throw new Error("The request was not recorded.");
        await tx.run(removeOld, finishedKept);
        await together(tx);
        return inserted.id;
      }),
    async find(id: number): Promise<BulkEnding | undefined> {
      const row = await db.read.one(byId, id);
      return row && bulkEndings.decode(row);
    },
    /** Newest first. */
    latest: async (limit: number): Promise<readonly BulkEnding[]> =>
      (await db.read.all(latest, limit)).map((row) => bulkEndings.decode(row)),
    /** Pushes after this id, ended ones too. */
    candidatesAfter: (id: number, limit: number): Promise<readonly EndingCandidate[]> =>
      db.read.all(candidates, id, limit),
    /**
     * Examines at most `limit` pushes for the oldest open request, and ends those that match. Of those that a limit has ended,
     * it voids tickets and repeatable claims. Examined and ended pushes are recorded in the same transaction, so a crash
     * repeats and loses nothing.
     * @returns the number of ended pushes; undefined: no request is open, or another process works on it.
     */
    advance: (
      now: number,
      limit: number,
      select: (request: BulkEnding) => (push: EndingCandidate) => boolean,
      audit: (request: BulkEnding) => AuditRecord,
    ): Promise<number | undefined> =>
      db.write(async (tx) => {
        const open = await tx.one(nextOpen);
        if (open === undefined) return undefined;
        const request = bulkEndings.decode(open);
        const examined = await tx.all(candidates, request.lastId, limit);
        let [ended, bytes] = [0, 0];
        for (const push of examined.filter(select(request))) {
          const end = { pushId: push.id, reason: "administrator", endedAt: now, blobsDueAt: 0 } as const;
          if (!(await endPush(tx, { ...end, audit: audit(request) }))) continue;
          ended += 1;
          bytes += push.storedBytes;
        }
        const finishedAt = examined.length < limit ? now : null;
        await tx.run(progress, examined.at(-1)?.id ?? request.lastId, ended, bytes, finishedAt, request.id);
        return ended;
      }),
  };
}
