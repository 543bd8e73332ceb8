import type { Clock } from "../base/clock.ts";
import type { Database } from "./database.ts";
import { sql } from "./statement.ts";

const time = sql<[], { now: number }>("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now");

/**
 * @returns how many ms the database's clock is ahead of `clock`; 0 when the difference could be the round trip of the
 * question. SQLite has no clock of its own.
 */
export async function measureDatabaseClock(db: Pick<Database, "engine" | "read">, clock: Clock): Promise<number> {
  switch (db.engine) {
    case "sqlite":
      return 0;
    case "postgres": {
      const askedAt = clock.now();
      const row = await db.read.one(time);
      const answeredAt = clock.now();
      if (row === undefined) throw new Error("The database did not say what time it is.");
      if (row.now >= askedAt && row.now <= answeredAt) return 0;
      return Math.round(row.now - (askedAt + answeredAt) / 2);
    }
    default:
      return db.engine satisfies never;
  }
}
