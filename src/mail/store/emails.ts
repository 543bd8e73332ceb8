import { underMasterKey } from "../../crypto/sealed-column.ts";
import type { Database, InTransaction, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import {
  bound,
  bytes,
  harmless,
  integer,
  nullable,
  type RowOf,
  RowShape,
  reasons,
  sealed,
  Table,
  text,
  withDefault,
} from "../../database/table.ts";

const email = underMasterKey("emails", { id: "id", owner: "NULL" });

export const outbox = new Table("outbox", {
  id: bound(integer, "the sealed email contains it"),
  /** Recipient and content together: neither can be exchanged. */
  emailSealed: sealed(bytes, { email }),
  createdAt: harmless(integer, reasons.limit),
  /** null: delivery has failed. */
  dueAt: harmless(nullable(integer), reasons.job),
  /** How often the email was claimed for delivery. */
  attempts: harmless(withDefault(integer, 0), reasons.job),
  lastError: harmless(withDefault(nullable(text), null), reasons.shown),
});

const storedEmails = outbox.pick("id", "emailSealed", "createdAt", "attempts");
/** An email that is claimed for delivery. */
export type StoredEmail = RowOf<typeof storedEmails>;

/** Failed emails always have an error; the expression gives the column its type. */
const failedEmails = new RowShape({
  id: integer,
  emailSealed: bytes,
  createdAt: integer,
  attempts: integer,
  lastError: text,
});
export type FailedRow = RowOf<typeof failedEmails>;
const failureColumns = failedEmails.selectExpressions({
  id: "id",
  emailSealed: "email_sealed",
  createdAt: "created_at",
  attempts: "attempts",
  lastError: "coalesce(last_error, '')",
});

interface DueWindow {
  readonly now: number;
  /** No email is due later than this. A later due time was set before the clock was moved back. */
  readonly farthest: number;
}

const due = "(due_at <= ? OR due_at > ?)";
const claimed = "id = ? AND attempts = ? AND due_at IS NOT NULL";

// Ids are never reused: an administrator's "discard 7" must not affect another email.
const takeId = sql<[], { nextId: number }>(
  `INSERT INTO id_blocks (name, next_id) VALUES ('outbox', 2)
   ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + 1 RETURNING next_id AS nextId`,
);
const takeNoId = sql("UPDATE id_blocks SET next_id = next_id WHERE name = 'outbox'");
const insertEmail = outbox.insert();
const waitingAtOffset = sql<[offset: number], { id: number }>(
  "SELECT id FROM outbox WHERE due_at IS NOT NULL LIMIT 1 OFFSET ?",
);
const firstDue = sql<[now: number, farthest: number], { id: number }>(`SELECT id FROM outbox WHERE ${due} LIMIT 1`);

/** @param lock on PostgreSQL, processes that claim at the same time must claim different rows. */
function claimText(lock: string): string {
  return `UPDATE outbox SET due_at = ?, attempts = attempts + 1
    WHERE id = (SELECT id FROM outbox WHERE ${due} ORDER BY due_at, id LIMIT 1 ${lock}) RETURNING ${storedEmails.selectList}`;
}
const claimOldestDue = sql<[leaseUntil: number, now: number, farthest: number], StoredEmail>({
  sqlite: claimText(""),
  postgres: claimText("FOR UPDATE SKIP LOCKED"),
});

/** No row has this id: ids begin with 1. */
const noEmail = 0;
const removeEmail = sql<[id: number]>("DELETE FROM outbox WHERE id = ?");
const releaseEmail = sql<[dueAt: number, id: number, attempts: number]>(
  `UPDATE outbox SET due_at = ?, attempts = attempts - 1 WHERE ${claimed}`,
);
const putOff = sql<[dueAt: number | null, error: string, id: number, attempts: number]>(
  `UPDATE outbox SET due_at = ?, last_error = ? WHERE ${claimed}`,
);
const trimFailed = sql<[keepMax: number]>(
  `DELETE FROM outbox WHERE due_at IS NULL
   AND id <= (SELECT id FROM outbox WHERE due_at IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?)`,
);
const failedById = sql<[id: number], FailedRow>(`SELECT ${failureColumns} FROM outbox WHERE id = ? AND due_at IS NULL`);
const failedPage = sql<[limit: number, offset: number], FailedRow>(
  `SELECT ${failureColumns} FROM outbox WHERE due_at IS NULL ORDER BY id DESC LIMIT ? OFFSET ?`,
);
const retryFailed = sql<[dueAt: number, id: number]>(
  "UPDATE outbox SET due_at = ?, attempts = 0 WHERE id = ? AND due_at IS NULL",
);
const retryAllFailed = sql<[dueAt: number]>("UPDATE outbox SET due_at = ?, attempts = 0 WHERE due_at IS NULL");
const discardFailed = sql<[id: number]>("DELETE FROM outbox WHERE id = ? AND due_at IS NULL");
const removeOldFailed = sql<[createdBefore: number]>("DELETE FROM outbox WHERE due_at IS NULL AND created_at < ?");
const countEmails = sql<[], { waiting: number; failed: number }>(
  "SELECT count(due_at) AS waiting, count(*) - count(due_at) AS failed FROM outbox",
);

const errorCounts = sql<[limit: number], { error: string; waiting: number; failed: number }>(
  `SELECT last_error AS error, count(due_at) AS waiting, count(*) - count(due_at) AS failed FROM outbox
   WHERE last_error IS NOT NULL GROUP BY last_error ORDER BY count(*) DESC, last_error LIMIT ?`,
);

export type EmailStore = ReturnType<typeof createEmailStore>;

function connections(db: Database) {
  const { read } = db;
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });

  /** @returns false: there is no such failed email, and nothing was written. */
  const changeFailed = (together: InTransaction, change: (tx: Transaction) => Promise<number>) =>
    db.write(async (tx) => {
      if ((await change(tx)) !== 1) return false;
      await together(tx);
      return true;
    });

  return { autocommit, changeFailed, read, db };
}

type Connections = ReturnType<typeof connections>;

function outboxQueue({ autocommit, read, db }: Connections) {
  return {
    /** @param seal seals the email for the row with this id. */
    async insert(tx: Transaction, seal: (id: number) => Buffer, now: number): Promise<void> {
      const taken = await tx.one(takeId);
      if (taken === undefined) throw new Error("No id was reserved.");
      const id = taken.nextId - 1;
      await tx.run(insertEmail, ...outbox.values({ id, emailSealed: seal(id), createdAt: now, dueAt: now }));
    },

    /** Runs as many statements as `insert` and inserts nothing. */
    async insertNothing(tx: Transaction): Promise<void> {
      await tx.run(takeNoId);
      await tx.run(removeEmail, noEmail);
    },

    /** Whether at least `count` emails wait. */
    hasWaiting: async (connection: ReadConnection, count: number) =>
      (await connection.one(waitingAtOffset, count - 1)) !== undefined,

    hasDue: async ({ now, farthest }: DueWindow) => (await read.one(firstDue, now, farthest)) !== undefined,

    /** Claims the email that has been due longest. It becomes due again at `leaseUntil`: no other process sends it before. */
    claimDue: ({ now, farthest }: DueWindow, leaseUntil: number) =>
      autocommit.one(claimOldestDue, leaseUntil, now, farthest),

    /** After the email was sent. */
    async remove(id: number): Promise<void> {
      await db.autocommit({ retry: "idempotent" }).run(removeEmail, id);
    },

    /** Makes the email due again and does not count this attempt. */
    async release({ id, attempts }: StoredEmail, now: number): Promise<void> {
      await autocommit.run(releaseEmail, now, id, attempts);
    },

    /** Does nothing when another process has claimed the email since. */
    async postpone({ id, attempts }: StoredEmail, dueAt: number, error: string): Promise<void> {
      await db.autocommit({ retry: "idempotent" }).run(putOff, dueAt, error, id, attempts);
    },

    /** Marks the email as failed, unless another process has claimed it. The newest `keepMax` failed emails are kept. */
    async giveUp({ id, attempts }: StoredEmail, error: string, keepMax: number): Promise<void> {
      await db.write(async (tx) => {
        await tx.run(putOff, null, error, id, attempts);
        await tx.run(trimFailed, keepMax);
      });
    },
  };
}

function outboxFailures({ autocommit, changeFailed, read, db }: Connections) {
  return {
    find: (id: number) => read.one(failedById, id),

    /** Newest first. */
    failed: (limit: number, offset: number) => read.all(failedPage, limit, offset),

    /** @returns false: there is no such failed email. */
    retry: (id: number, now: number, together: InTransaction) =>
      changeFailed(together, (tx) => tx.run(retryFailed, now, id)),

    /** @returns how many; if 0, nothing was written. */
    retryAll: (now: number, together: InTransaction) =>
      db.write(async (tx) => {
        const count = await tx.run(retryAllFailed, now);
        if (count > 0) await together(tx);
        return count;
      }),

    /** @returns false: there is no such failed email. */
    discard: (id: number, together: InTransaction) => changeFailed(together, (tx) => tx.run(discardFailed, id)),

    removeFailedBefore: (createdBefore: number) => autocommit.run(removeOldFailed, createdBefore),

    /** The most frequent errors first. */
    errorCounts: (limit: number) => read.all(errorCounts, limit),

    sizes: async () => (await read.one(countEmails)) ?? { waiting: 0, failed: 0 },
  };
}

/** Reads return committed rows; writes resolve once they are durable. */
export function createEmailStore(db: Database) {
  const shared = connections(db);
  return { ...outboxQueue(shared), ...outboxFailures(shared) };
}
