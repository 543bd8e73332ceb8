import type { Database, InTransaction, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

/** A email as it lies in the outbox. */
export interface StoredEmail {
  readonly id: number;
  readonly emailSealed: Buffer;
  readonly createdAt: number;
  /** How often it was claimed to be sent, this time included. */
  readonly attempts: number;
}

export interface StoredFailure extends StoredEmail {
  readonly lastError: string;
}

/** Reads answer from what is durable; writes settle once they are. */
export interface EmailStore {
  /** @param seal seals the email for the row of this id. */
  insert(tx: Transaction, seal: (id: number) => Buffer, now: number): Promise<void>;
  /** As many statements as `insert`, and no row. */
  insertNothing(tx: Transaction): Promise<void>;
  /** Whether at least so many wait. */
  waitingReach(reading: ReadConnection, count: number): Promise<boolean>;
  anyDue(window: DueWindow): Promise<boolean>;
  /** Takes the one that is due longest, and makes it due again only at `leaseUntil`: no other process sends it before. */
  claimDue(window: DueWindow, leaseUntil: number): Promise<StoredEmail | undefined>;
  /** It has left. */
  remove(id: number): Promise<void>;
  /** Back to its place: the attempt did not come to anything. */
  release(letter: StoredEmail, now: number): Promise<void>;
  /** Nothing happens when another process has claimed it since. */
  postpone(letter: StoredEmail, dueAt: number, error: string): Promise<void>;
  /** The same; it joins the failed ones, of which the newest `keepMax` are kept. */
  giveUp(letter: StoredEmail, error: string, keepMax: number): Promise<void>;
  find(id: number): Promise<StoredFailure | undefined>;
  /** Newest first. */
  failed(limit: number, offset: number): Promise<readonly StoredFailure[]>;
  /** @returns false: it is not among the failed ones. */
  retry(id: number, now: number, together: InTransaction): Promise<boolean>;
  /** The same. */
  discard(id: number, together: InTransaction): Promise<boolean>;
  removeFailedBefore(createdBefore: number): Promise<number>;
  sizes(): Promise<EmailCounts>;
}

export interface EmailCounts {
  readonly waiting: number;
  readonly failed: number;
}

export interface DueWindow {
  readonly now: number;
  /** Nothing is ever put off beyond it: a email that is, was put off by a clock that has been set back since. */
  readonly farthest: number;
}

const columns = "id, email_sealed AS emailSealed, created_at AS createdAt, attempts";
const failureColumns = `${columns}, coalesce(last_error, '') AS lastError`;
const due = "(due_at <= ? OR due_at > ?)";
const claimed = "id = ? AND attempts = ? AND due_at IS NOT NULL";

// Never given twice: an administrator's "discard 7" must not meet another email that has become 7 meanwhile.
const takeId = sql<[], { nextId: number }>(
  `INSERT INTO id_blocks (name, next_id) VALUES ('outbox', 2)
   ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + 1 RETURNING next_id AS nextId`,
);
const takeNoId = sql("UPDATE id_blocks SET next_id = next_id WHERE name = 'outbox'");
const insertEmail = sql<[id: number, emailSealed: Buffer, createdAt: number, dueAt: number]>(
  "INSERT INTO outbox (id, email_sealed, created_at, due_at, attempts) VALUES (?, ?, ?, ?, 0)",
);
const waitingAtOffset = sql<[offset: number], { id: number }>(
  "SELECT id FROM outbox WHERE due_at IS NOT NULL LIMIT 1 OFFSET ?",
);
const firstDue = sql<[now: number, farthest: number], { id: number }>(`SELECT id FROM outbox WHERE ${due} LIMIT 1`);

/** @param lock of the row that is claimed: where claims run beside each other, each takes one that nobody else takes. */
function claimText(lock: string): string {
  return `UPDATE outbox SET due_at = ?, attempts = attempts + 1
    WHERE id = (SELECT id FROM outbox WHERE ${due} ORDER BY due_at, id LIMIT 1 ${lock}) RETURNING ${columns}`;
}
const claimOldestDue = sql<[leaseUntil: number, now: number, farthest: number], StoredEmail>({
  sqlite: claimText(""),
  postgres: claimText("FOR UPDATE SKIP LOCKED"),
});

/** Ids begin with 1. */
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
const failedById = sql<[id: number], StoredFailure>(
  `SELECT ${failureColumns} FROM outbox WHERE id = ? AND due_at IS NULL`,
);
const failedPage = sql<[limit: number, offset: number], StoredFailure>(
  `SELECT ${failureColumns} FROM outbox WHERE due_at IS NULL ORDER BY id DESC LIMIT ? OFFSET ?`,
);
const retryFailed = sql<[dueAt: number, id: number]>(
  "UPDATE outbox SET due_at = ?, attempts = 0 WHERE id = ? AND due_at IS NULL",
);
const discardFailed = sql<[id: number]>("DELETE FROM outbox WHERE id = ? AND due_at IS NULL");
const removeOldFailed = sql<[createdBefore: number]>("DELETE FROM outbox WHERE due_at IS NULL AND created_at < ?");
const countEmails = sql<[], EmailCounts>(
  "SELECT count(due_at) AS waiting, count(*) - count(due_at) AS failed FROM outbox",
);

export function createEmailStore(db: Database): EmailStore {
  const { read } = db;
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });

  /** @returns false: there is no such email, and nothing was written. */
  const changeFailed = (together: InTransaction, change: (tx: Transaction) => Promise<number>) =>
    db.write(async (tx) => {
      if ((await change(tx)) !== 1) return false;
      await together(tx);
      return true;
    });

  return {
    async insert(tx, seal, now) {
      const taken = await tx.one(takeId);
      if (taken === undefined) throw new Error("No id was reserved.");
      const id = taken.nextId - 1;
      await tx.run(insertEmail, id, seal(id), now, now);
    },
    async insertNothing(tx) {
      await tx.run(takeNoId);
      await tx.run(removeEmail, noEmail);
    },
    waitingReach: async (reading, count) => (await reading.one(waitingAtOffset, count - 1)) !== undefined,
    anyDue: async ({ now, farthest }) => (await read.one(firstDue, now, farthest)) !== undefined,
    claimDue: ({ now, farthest }, leaseUntil) => autocommit.one(claimOldestDue, leaseUntil, now, farthest),
    async remove(id) {
      await db.autocommit({ retry: "idempotent" }).run(removeEmail, id);
    },
    async release({ id, attempts }, now) {
      await autocommit.run(releaseEmail, now, id, attempts);
    },
    async postpone({ id, attempts }, dueAt, error) {
      await db.autocommit({ retry: "idempotent" }).run(putOff, dueAt, error, id, attempts);
    },
    async giveUp({ id, attempts }, error, keepMax) {
      await db.write(async (tx) => {
        await tx.run(putOff, null, error, id, attempts);
        await tx.run(trimFailed, keepMax);
      });
    },
    find: (id) => read.one(failedById, id),
    failed: (limit, offset) => read.all(failedPage, limit, offset),
    retry: (id, now, together) => changeFailed(together, (tx) => tx.run(retryFailed, now, id)),
    discard: (id, together) => changeFailed(together, (tx) => tx.run(discardFailed, id)),
    removeFailedBefore: (createdBefore) => autocommit.run(removeOldFailed, createdBefore),
    sizes: async () => (await read.one(countEmails)) ?? { waiting: 0, failed: 0 },
  };
}
