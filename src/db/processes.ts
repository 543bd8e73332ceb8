import { minuteMs, secondMs } from "../base/clock.ts";
import { prepareKeyMarks } from "./keys-in-use.ts";
import type { Database } from "./sqlite.ts";

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
  running(now: number): readonly RunningProcess[];
}

export function createProcessRegistry(db: Database): ProcessRegistry {
  const keyMarks = prepareKeyMarks(db.writer);
  const upsert = db.writer.prepare(
    `INSERT INTO processes (id, active_key_id, key_ids, seen_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
  );
  const forget = db.writer.prepare("DELETE FROM processes WHERE seen_at < ?");
  const remove = db.writer.prepare("DELETE FROM processes WHERE id = ?");
  const seen = db.reader.prepare<[number], { id: string; activeKeyId: string; keyIds: string }>(
    "SELECT id, active_key_id AS activeKeyId, key_ids AS keyIds FROM processes WHERE seen_at > ? ORDER BY id",
  );
  return {
    beat: (process, now) =>
      db.write(() => {
        upsert.run(process.id, process.activeKeyId, process.keyIds.join(","), now);
        keyMarks.mark(process.activeKeyId, now);
        forget.run(now - forgottenAfterMs);
      }),
    remove: (id) =>
      db.write(() => {
        remove.run(id);
      }),
    running: (now) => seen.all(now - goneAfterMs).map((row) => ({ ...row, keyIds: row.keyIds.split(",") })),
  };
}
