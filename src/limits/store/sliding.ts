import { sql } from "../../database/statement.ts";

/** Numbers that an attempt may have beside others of the same millisecond. */
export const numbersPerMs = 2 ** 22;

/** An attempt: its time and its number, so that a statement recognises it when it runs again. */
type Attempt = [at: number, number: number];
const attempt = `CAST(? AS BIGINT) * ${numbersPerMs} + CAST(? AS BIGINT)`;

/** The other attempts of a row after a time and up to another; the upper bound tolerates clocks that differ a little. */
const recent = `SELECT at FROM unnest(known.charged_at) AS at
  WHERE at >= (CAST(? AS BIGINT) + 1) * ${numbersPerMs} AND at < (CAST(? AS BIGINT) + 1) * ${numbersPerMs} AND at <> excluded.charged_at[1]`;

/**
 * Returns no row when the limit is reached: the condition is checked under the row's lock. Changes nothing more when it runs
 * again for the same attempt.
 */
export const chargeSliding = sql<
  [
    key: Buffer,
    ...attempt: Attempt,
    endsAt: number,
    after: number,
    until: number,
    sameAfter: number,
    sameUntil: number,
    max: number,
  ],
  { charged: number }
>(
  `INSERT INTO limit_attempts AS known (key, charged_at, ends_at) VALUES (?, ARRAY[${attempt}], ?)
   ON CONFLICT (key) DO UPDATE SET charged_at = ARRAY(${recent} ORDER BY at) || excluded.charged_at, ends_at = excluded.ends_at
   WHERE (SELECT count(*) FROM (${recent}) AS recent) < ?
   RETURNING 1 AS charged`,
);
export const oldestRecent = sql<[key: Buffer, after: number, until: number], { oldest: number | null }>(
  `SELECT min(at) / ${numbersPerMs} AS oldest FROM limit_attempts, unnest(charged_at) AS at
   WHERE key = ? AND at >= (CAST(? AS BIGINT) + 1) * ${numbersPerMs} AND at < (CAST(? AS BIGINT) + 1) * ${numbersPerMs}`,
);
/** Changes nothing more when it runs again. */
export const refundSliding = sql<[...attempt: Attempt, key: Buffer, ...sameAttempt: Attempt]>(
  `UPDATE limit_attempts SET charged_at = array_remove(charged_at, ${attempt})
   WHERE key = ? AND ${attempt} = ANY(charged_at)`,
);

export const removeExpiredAttempts = sql<[now: number, rowsMax: number]>(
  // An array is evaluated once: a join could run the limited subquery again for each row.
  `DELETE FROM limit_attempts WHERE key = ANY (ARRAY
     (SELECT key FROM limit_attempts WHERE ends_at <= ? ORDER BY ends_at LIMIT ? FOR UPDATE SKIP LOCKED))`,
);
