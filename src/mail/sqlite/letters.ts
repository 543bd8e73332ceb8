import type { Database } from "../../db/sqlite.ts";

/** A letter as it lies in the outbox. */
export interface StoredLetter {
  readonly id: number;
  readonly letterSealed: Buffer;
  readonly createdAt: number;
  /** How often it was claimed to be sent, this time included. */
  readonly attempts: number;
}

export interface StoredFailure extends StoredLetter {
  readonly lastError: string;
}

/** Reads answer from what is durable; writes settle once they are. */
export interface LetterStore {
  /** Inside a unit of `db.write`. @param seal seals the letter for the row of this id. */
  insert(seal: (id: number) => Buffer, now: number): void;
  /** Inside a unit of `db.write`: whether at least so many wait. */
  waitingReach(count: number): boolean;
  anyDue(window: DueWindow): boolean;
  /** Takes the one that is due longest, and makes it due again only at `leaseUntil`: no other process sends it before. */
  claimDue(window: DueWindow, leaseUntil: number): Promise<StoredLetter | undefined>;
  /** It has left. */
  remove(id: number): Promise<boolean>;
  /** Back to its place: the attempt did not come to anything. */
  release(letter: StoredLetter, now: number): Promise<void>;
  /** Nothing happens when another process has claimed it since. */
  postpone(letter: StoredLetter, dueAt: number, error: string): Promise<void>;
  /** The same; it joins the failed ones, of which the newest `keepMax` are kept. */
  giveUp(letter: StoredLetter, error: string, keepMax: number): Promise<void>;
  find(id: number): StoredFailure | undefined;
  /** Newest first. */
  failed(limit: number, offset: number): readonly StoredFailure[];
  /** @returns false: it is not among the failed ones. */
  retry(id: number, now: number): Promise<boolean>;
  /** The same. */
  discard(id: number): Promise<boolean>;
  removeFailedBefore(createdBefore: number): Promise<number>;
  sizes(): { readonly waiting: number; readonly failed: number };
}

export interface DueWindow {
  readonly now: number;
  /** Nothing is ever put off beyond it: a letter that is, was put off by a clock that has been set back since. */
  readonly farthest: number;
}

const columns = "id, letter_sealed AS letterSealed, created_at AS createdAt, attempts";
const failureColumns = `${columns}, coalesce(last_error, '') AS lastError`;
const due = "(due_at <= ? OR due_at > ?)";

export function createLetterStore(db: Database): LetterStore {
  const { writer, reader } = db;
  // Never given twice: an administrator's "discard 7" must not meet another letter that has become 7 meanwhile.
  const takeId = writer.prepare<[], { next_id: number }>(
    `INSERT INTO id_blocks (name, next_id) VALUES ('outbox', 2)
     ON CONFLICT (name) DO UPDATE SET next_id = next_id + 1 RETURNING next_id`,
  );
  const insert = writer.prepare<[number, Buffer, number, number]>(
    "INSERT INTO outbox (id, letter_sealed, created_at, due_at, attempts) VALUES (?, ?, ?, ?, 0)",
  );
  const reach = writer.prepare<[number]>("SELECT 1 FROM outbox WHERE due_at IS NOT NULL LIMIT 1 OFFSET ?");
  const anyDue = reader.prepare<[number, number]>(`SELECT 1 FROM outbox WHERE ${due} LIMIT 1`);
  const claim = writer.prepare<[number, number, number], StoredLetter>(
    `UPDATE outbox SET due_at = ?, attempts = attempts + 1
     WHERE id = (SELECT id FROM outbox WHERE ${due} ORDER BY due_at, id LIMIT 1) RETURNING ${columns}`,
  );
  const remove = writer.prepare<[number]>("DELETE FROM outbox WHERE id = ?");
  const claimed = "id = ? AND attempts = ? AND due_at IS NOT NULL";
  const release = writer.prepare<[number, number, number]>(
    `UPDATE outbox SET due_at = ?, attempts = attempts - 1 WHERE ${claimed}`,
  );
  const putOff = writer.prepare<[number | null, string, number, number]>(
    `UPDATE outbox SET due_at = ?, last_error = ? WHERE ${claimed}`,
  );
  const trim = writer.prepare<[number]>(
    `DELETE FROM outbox WHERE due_at IS NULL
     AND id <= (SELECT id FROM outbox WHERE due_at IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?)`,
  );
  const find = reader.prepare<[number], StoredFailure>(
    `SELECT ${failureColumns} FROM outbox WHERE id = ? AND due_at IS NULL`,
  );
  const failed = reader.prepare<[number, number], StoredFailure>(
    `SELECT ${failureColumns} FROM outbox WHERE due_at IS NULL ORDER BY id DESC LIMIT ? OFFSET ?`,
  );
  const retry = writer.prepare<[number, number]>(
    "UPDATE outbox SET due_at = ?, attempts = 0 WHERE id = ? AND due_at IS NULL",
  );
  const discard = writer.prepare<[number]>("DELETE FROM outbox WHERE id = ? AND due_at IS NULL");
  const removeOld = writer.prepare<[number]>("DELETE FROM outbox WHERE due_at IS NULL AND created_at < ?");
  const sizes = reader.prepare<[], { waiting: number; failed: number }>(
    "SELECT count(due_at) AS waiting, count(*) - count(due_at) AS failed FROM outbox",
  );

  return {
    insert(seal, now) {
      const taken = takeId.get();
      if (taken === undefined) throw new Error("No id was reserved.");
      const id = taken.next_id - 1;
      insert.run(id, seal(id), now, now);
    },
    waitingReach: (count) => reach.get(count - 1) !== undefined,
    anyDue: ({ now, farthest }) => anyDue.get(now, farthest) !== undefined,
    claimDue: ({ now, farthest }, leaseUntil) => db.write(() => claim.get(leaseUntil, now, farthest)),
    remove: (id) => db.write(() => remove.run(id).changes === 1),
    async release({ id, attempts }, now) {
      await db.write(() => release.run(now, id, attempts));
    },
    async postpone({ id, attempts }, dueAt, error) {
      await db.write(() => putOff.run(dueAt, error, id, attempts));
    },
    async giveUp({ id, attempts }, error, keepMax) {
      await db.write(() => {
        putOff.run(null, error, id, attempts);
        trim.run(keepMax);
      });
    },
    find: (id) => find.get(id),
    failed: (limit, offset) => failed.all(limit, offset),
    retry: (id, now) => db.write(() => retry.run(now, id).changes === 1),
    discard: (id) => db.write(() => discard.run(id).changes === 1),
    removeFailedBefore: (createdBefore) => db.write(() => removeOld.run(createdBefore).changes),
    sizes: () => sizes.get() ?? { waiting: 0, failed: 0 },
  };
}
