import { sql } from "../../database/statement.ts";

/** The attempts of a row between two times; the upper bound tolerates clocks that differ a little. */
const recent = "SELECT at FROM unnest(known.charged_at) AS at WHERE at > ? AND at <= ?";

/** Returns no row when the limit is reached: the condition is checked under the row's lock. */
export const chargeSliding = sql<
  [
    key: Buffer,
    now: number,
    endsAt: number,
    after: number,
    until: number,
    sameAfter: number,
    sameUntil: number,
    max: number,
  ],
  { charged: number }
>(
  `INSERT INTO limit_attempts AS known (key, charged_at, ends_at) VALUES (?, ARRAY[CAST(? AS BIGINT)], ?)
   ON CONFLICT (key) DO UPDATE SET charged_at = ARRAY(${recent} ORDER BY at) || excluded.charged_at, ends_at = excluded.ends_at
   WHERE (SELECT count(*) FROM (${recent}) AS recent) < ?
   RETURNING 1 AS charged`,
);
export const oldestRecent = sql<[key: Buffer, after: number, until: number], { oldest: number | null }>(
  `SELECT min(at) AS oldest FROM limit_attempts, unnest(charged_at) AS at
   WHERE key = ? AND at > CAST(? AS BIGINT) AND at <= CAST(? AS BIGINT)`,
);
const position = "array_position(charged_at, CAST(? AS BIGINT))";
/** Removes one attempt of that time. */
export const refundSliding = sql<[at: number, sameAt: number, key: Buffer, stillAt: number]>(
  `UPDATE limit_attempts SET charged_at =
     charged_at[1:${position} - 1] || charged_at[${position} + 1:cardinality(charged_at)]
   WHERE key = ? AND CAST(? AS BIGINT) = ANY(charged_at)`,
);

export const removeExpiredAttempts = sql<[now: number, rowsMax: number]>(
  // An array is evaluated once: a join could run the limited subquery again for each row.
  `DELETE FROM limit_attempts WHERE key = ANY (ARRAY
     (SELECT key FROM limit_attempts WHERE ends_at <= ? ORDER BY ends_at LIMIT ? FOR UPDATE SKIP LOCKED))`,
);
