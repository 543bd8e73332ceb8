import { minuteMs } from "../../base/clock.ts";
import { sql } from "../../database/statement.ts";

/**
 * How far the clocks of two machines may lie apart: a window that begins this far ahead of one's own time holds. Later
 * ones are from before a clock was set back.
 */
export const clockSpreadMs = minuteMs;

/** Of a row that stands, when the same key comes again: whether its window holds at the time that comes with it. */
const holds = `(known.ends_at > excluded.started_at AND known.started_at <= excluded.started_at + ${clockSpreadMs})`;
const renewed = `started_at = CASE WHEN ${holds} THEN known.started_at ELSE excluded.started_at END,
  ends_at = CASE WHEN ${holds} THEN known.ends_at ELSE excluded.ends_at END`;

type NewWindow = [key: Buffer, startedAt: number, endsAt: number];

/** No row comes back from a window that is full: the condition is looked at under the row's lock. */
export const chargeWindow = sql<[...NewWindow, max: number], { startedAt: number }>(
  `INSERT INTO limit_windows AS known (key, started_at, ends_at, count) VALUES (?, ?, ?, 1)
   ON CONFLICT (key) DO UPDATE SET ${renewed}, count = CASE WHEN ${holds} THEN known.count + 1 ELSE 1 END
   WHERE NOT ${holds} OR known.count < ?
   RETURNING known.started_at AS startedAt`,
);
export const windowEnd = sql<[key: Buffer], { endsAt: number }>(
  "SELECT ends_at AS endsAt FROM limit_windows WHERE key = ?",
);
export const refundWindow = sql<[key: Buffer, startedAt: number]>(
  "UPDATE limit_windows SET count = count - 1 WHERE key = ? AND started_at = ? AND count > 0",
);

/** What has happened already, in as many windows as one client has; always in the same order, so that none waits in a ring. */
export const addToWindows = sql<
  [...NewWindow, count: number, ...NewWindow, count: number],
  { key: Buffer; startedAt: number; count: number }
>(
  `INSERT INTO limit_windows AS known (key, started_at, ends_at, count) VALUES (?, ?, ?, ?), (?, ?, ?, ?)
   ON CONFLICT (key) DO UPDATE SET ${renewed},
     count = CASE WHEN ${holds} THEN known.count + excluded.count ELSE excluded.count END
   RETURNING known.key, known.started_at AS startedAt, known.count`,
);

export const removeOverWindows = sql<[now: number, rowsMax: number]>(
  // As an array, which is read once: a join could run the limited reading anew for each row.
  `DELETE FROM limit_windows WHERE key = ANY (ARRAY
     (SELECT key FROM limit_windows WHERE ends_at <= ? ORDER BY ends_at LIMIT ? FOR UPDATE SKIP LOCKED))`,
);
