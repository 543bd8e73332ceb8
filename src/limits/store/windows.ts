import { clockSpreadMs } from "../../base/clock.ts";
import { sql } from "../../database/statement.ts";

/** Whether the window of an existing row is valid at the time of the new attempt. */
const holds = `(known.ends_at > excluded.started_at AND known.started_at <= excluded.started_at + ${clockSpreadMs})`;
const renewed = `started_at = CASE WHEN ${holds} THEN known.started_at ELSE excluded.started_at END,
  ends_at = CASE WHEN ${holds} THEN known.ends_at ELSE excluded.ends_at END`;

type NewWindow = [key: Buffer, startedAt: number, endsAt: number];

const added = `count = CASE WHEN ${holds} THEN known.count + excluded.count ELSE excluded.count END`;

/** Returns no row when the window has no room for the amount: the condition is checked under the row's lock. */
export const chargeWindow = sql<[...NewWindow, amount: number, max: number], { startedAt: number }>(
  `INSERT INTO limit_windows AS known (key, started_at, ends_at, count) VALUES (?, ?, ?, ?)
   ON CONFLICT (key) DO UPDATE SET ${renewed}, ${added}
   WHERE NOT ${holds} OR known.count + excluded.count <= ?
   RETURNING known.started_at AS startedAt`,
);
export const windowEnd = sql<[key: Buffer], { endsAt: number }>(
  "SELECT ends_at AS endsAt FROM limit_windows WHERE key = ?",
);
export const refundWindow = sql<[amount: number, key: Buffer, startedAt: number, sameAmount: number]>(
  "UPDATE limit_windows SET count = count - CAST(? AS BIGINT) WHERE key = ? AND started_at = ? AND count >= CAST(? AS BIGINT)",
);

/** Adds requests to both windows of a client, always in the same order, which prevents deadlocks. */
export const addToWindows = sql<
  [...NewWindow, count: number, ...NewWindow, count: number],
  { key: Buffer; startedAt: number; count: number }
>(
  `INSERT INTO limit_windows AS known (key, started_at, ends_at, count) VALUES (?, ?, ?, ?), (?, ?, ?, ?)
   ON CONFLICT (key) DO UPDATE SET ${renewed}, ${added}
   RETURNING known.key, known.started_at AS startedAt, known.count`,
);

export const removeExpiredWindows = sql<[now: number, rowsMax: number]>(
  // An array is evaluated once: a join could run the limited subquery again for each row.
  `DELETE FROM limit_windows WHERE key = ANY (ARRAY
     (SELECT key FROM limit_windows WHERE ends_at <= ? ORDER BY ends_at LIMIT ? FOR UPDATE SKIP LOCKED))`,
);
