import { minuteMs, secondMs } from "../base/clock.ts";
import type { Database, ReadConnection } from "./database.ts";
import { markKey } from "./keys-in-use.ts";
import { sql } from "./statement.ts";

/** A process that is at work on this database, and which master keys it knows. */
export interface RunningProcess {
  readonly id: string;
  readonly activeKeyId: string;
  readonly keyIds: readonly string[];
}

export const heartbeatMs = 10 * secondMs;
/** A process that has not been heard of for this long is gone: three missed heartbeats. */
const goneAfterMs = 3 * heartbeatMs + secondMs;
const forgottenAfterMs = 10 * minuteMs;

export interface ProcessRegistry {
  /**
   * Before a process seals its first row, and then every `heartbeatMs`. Marks its active key as in use each time: one
   * that was thought gone - it started late, or was stopped for a while - undoes the retirement of its key.
   */
  beat(process: RunningProcess, now: number): Promise<void>;
  remove(id: string): Promise<void>;
  /** @param reading the transaction of a write that is decided by it, in the turn "keys"; not given: what is durable. */
  running(now: number, reading?: ReadConnection): Promise<readonly RunningProcess[]>;
}

const writeBeat = sql<[id: string, activeKeyId: string, keyIds: string, seenAt: number]>(
  `INSERT INTO processes (id, active_key_id, key_ids, seen_at) VALUES (?, ?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
);
const forgetOld = sql<[seenBefore: number]>("DELETE FROM processes WHERE seen_at < ?");
const deleteProcess = sql<[id: string]>("DELETE FROM processes WHERE id = ?");
const seenSince = sql<[since: number], { id: string; activeKeyId: string; keyIds: string }>(
  "SELECT id, active_key_id AS activeKeyId, key_ids AS keyIds FROM processes WHERE seen_at > ? ORDER BY id",
);

export function createProcessRegistry(db: Database): ProcessRegistry {
  return {
    beat: (process, now) =>
      db.writeSerialized("keys", async (tx) => {
        await tx.run(writeBeat, process.id, process.activeKeyId, process.keyIds.join(","), now);
        await markKey(tx, process.activeKeyId, now);
        await tx.run(forgetOld, now - forgottenAfterMs);
      }),
    async remove(id) {
      await db.autocommit({ retry: "whenNotExecuted" }).run(deleteProcess, id);
    },
    async running(now, reading = db.read) {
      const rows = await reading.all(seenSince, now - goneAfterMs);
      return rows.map((row) => ({ ...row, keyIds: row.keyIds.split(",") }));
    },
  };
}
