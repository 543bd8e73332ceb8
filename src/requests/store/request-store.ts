import { underMasterKey, underStoredLinkKey } from "../../crypto/sealed-column.ts";
import type { Database, InTransaction, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import {
  bound,
  bytes,
  harmless,
  integer,
  nullable,
  type RowOf,
  reasons,
  sealed,
  Table,
  withDefault,
} from "../../database/table.ts";

const inDetails = "the sealed details are bound to it";
/** Authenticates the recipient of the answers: another one in the database would read them. */
const requestDetails = underMasterKey("requests", { id: "id", owner: "owner_id" });

/** Times in ms since the epoch. */
export const requests = new Table("requests", {
  id: bound(integer, inDetails),
  /** null: made without an account. */
  ownerId: bound(nullable(integer), inDetails),
  linkCheck: bound(bytes, "a keyed check over the url_token: nobody without the index secret can compute one"),
  detailsSealed: sealed(bytes, { requestDetails }),
  /** null: not stored. */
  tokenSealed: sealed(withDefault(nullable(bytes), null), { requestToken: underStoredLinkKey }),
  createdAt: harmless(integer, reasons.limit),
  expiresAt: harmless(integer, reasons.limit),
  closedAt: harmless(withDefault(nullable(integer), null), reasons.limit),
  answersMax: harmless(integer, reasons.limit),
  answers: harmless(withDefault(integer, 0), reasons.limit),
});
export type RequestRow = RowOf<typeof requests>;

/** The pushes that answer a request, by number from 1. */
export const requestAnswers = new Table("request_answers", {
  requestId: harmless(integer, "an answer is shown only if its link and content open for the owner of the request"),
  number: harmless(integer, reasons.shown),
  pushId: harmless(integer, "an answer is shown only if its link and content open for the owner of the request"),
});

const insertRequest = requests.insert();
const insertAnswer = requestAnswers.insert();
const byLink = requests.select<[id: number, check: Buffer]>("WHERE id = ? AND link_check = ?");
const ofOwner = requests.select<[ownerId: number, limit: number, offset: number]>(
  "WHERE owner_id = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
);
const ofOwnerBefore = requests.select<[ownerId: number, createdAt: number, id: number, limit: number]>(
  "WHERE owner_id = ? AND (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?",
);
const canBeAnswered = "closed_at IS NULL AND expires_at > ? AND answers < answers_max";
const countOpen = sql<[ownerId: number, now: number], { open: number }>(
  `SELECT count(*) AS open FROM requests WHERE owner_id = ? AND ${canBeAnswered}`,
);
/** It counts requests that cannot be answered any more too, which bounds the rows and their bytes. */
const countAnonymous = sql<[], { requests: number }>(
  "SELECT count(*) AS requests FROM requests WHERE owner_id IS NULL",
);
const close = sql<[now: number, id: number]>("UPDATE requests SET closed_at = ? WHERE id = ? AND closed_at IS NULL");
const closeOwned = sql<[now: number, ownerId: number]>(
  "UPDATE requests SET closed_at = ? WHERE owner_id = ? AND closed_at IS NULL",
);
/** The guard: of any number of concurrent answers, no more are taken than the request may have. */
const countAnswer = sql<[id: number, now: number], { answers: number }>(
  `UPDATE requests SET answers = answers + 1 WHERE id = ? AND ${canBeAnswered} RETURNING answers`,
);
const answersOf = sql<[requestId: number], { pushId: number }>(
  "SELECT push_id AS pushId FROM request_answers WHERE request_id = ? ORDER BY number",
);
/** Without the request, nobody could open the answers that are left: the settings may have allowed them a longer life than now. */
const endedBefore = sql<[before: number, limit: number], { id: number }>(
  `SELECT id FROM requests WHERE expires_at < ? AND NOT EXISTS (
     SELECT 1 FROM request_answers JOIN pushes ON pushes.id = push_id WHERE request_id = requests.id AND ended_at IS NULL)
   ORDER BY expires_at LIMIT ?`,
);
const remove = sql<[id: number]>("DELETE FROM requests WHERE id = ?");

export type RequestStore = ReturnType<typeof createRequestStore>;

export function createRequestStore(db: Database) {
  return {
    /**
     * @returns false: the owner has `openMax` requests that can be answered, or there are `anonymousMax` without an owner;
     * nothing was written.
     */
    insert: (
      row: RequestRow,
      { openMax, anonymousMax }: { readonly openMax: number; readonly anonymousMax: number },
    ): Promise<boolean> =>
      db.writeSerialized("requests", async (tx) => {
        const isFull =
          row.ownerId === null
            ? ((await tx.one(countAnonymous))?.requests ?? 0) >= anonymousMax
            : ((await tx.one(countOpen, row.ownerId, row.createdAt))?.open ?? 0) >= openMax;
        if (isFull) return false;
        await tx.run(insertRequest, ...requests.values(row));
        return true;
      }),
    /** The check is a condition of the read, so that a wrong one costs what an unknown id costs. */
    async find(id: number, check: Buffer): Promise<RequestRow | undefined> {
      const stored = await db.read.one(byLink, id, check);
      return stored === undefined ? undefined : requests.decode(stored);
    },
    /** Newest first. */
    list: async (ownerId: number, limit: number, offset: number): Promise<readonly RequestRow[]> =>
      (await db.read.all(ofOwner, ownerId, limit, offset)).map((stored) => requests.decode(stored)),
    /** The next ones after this one, newest first; null: from the newest. */
    async listAfter(ownerId: number, last: RequestRow | null, limit: number): Promise<readonly RequestRow[]> {
      const { createdAt, id } = last ?? { createdAt: Number.MAX_SAFE_INTEGER, id: 0 };
      const stored = await db.read.all(ofOwnerBefore, ownerId, createdAt, id, limit);
      return stored.map((row) => requests.decode(row));
    },
    countOpen: async (ownerId: number, now: number): Promise<number> =>
      (await db.read.one(countOpen, ownerId, now))?.open ?? 0,
    /** @param together writes in the same transaction. */
    closeOwned: (ownerId: number, now: number, together: InTransaction): Promise<void> =>
      db.write(async (tx) => {
        await tx.run(closeOwned, now, ownerId);
        await together(tx);
      }),
    async close(id: number, now: number): Promise<void> {
      await db.autocommit({ retry: "idempotent" }).run(close, now, id);
    },
    /**
     * For the transaction that writes the push.
     * @returns false: the request cannot be answered any more.
     */
    async addAnswer(tx: Transaction, requestId: number, pushId: number, now: number): Promise<boolean> {
      const counted = await tx.one(countAnswer, requestId, now);
      if (counted === undefined) return false;
      await tx.run(insertAnswer, ...requestAnswers.values({ requestId, number: counted.answers, pushId }));
      return true;
    },
    /** The ids of the pushes, in the order in which they came. */
    answers: async (requestId: number): Promise<readonly number[]> =>
      (await db.read.all(answersOf, requestId)).map(({ pushId }) => pushId),
    async remove(id: number): Promise<void> {
      await db.autocommit({ retry: "idempotent" }).run(remove, id);
    },
    /** Removes requests that expired before then and whose answers have ended. @returns how many, at most `limit`. */
    removeExpired: (before: number, limit: number): Promise<number> =>
      db.write(async (tx) => {
        const rows = await tx.all(endedBefore, before, limit);
        for (const { id } of rows) await tx.run(remove, id);
        return rows.length;
      }),
  };
}
