import { minuteMs, secondMs } from "../base/clock.ts";
import type { Database, ReadConnection, Transaction } from "./database.ts";
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

/** A master key that may have sealed rows of this database. */
export interface KeyMark {
  readonly keyId: string;
  /** Changes whenever a process that seals under the key says that it is at work. */
  readonly markedAt: string;
}

const prefix = "key_in_use:";
/** The next word after all that begin with the prefix. */
const prefixEnd = "key_in_use;";

const readMarks = sql<[from: string, to: string], { name: string; value: Buffer }>(
  "SELECT name, value FROM meta WHERE name >= ? AND name < ? ORDER BY name",
);
const writeMark = sql<[name: string, value: Buffer]>(
  "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);
const deleteMark = sql<[name: string, value: Buffer]>("DELETE FROM meta WHERE name = ? AND value = ?");

/** In the order of their ids. */
export async function readKeyMarks(reading: ReadConnection): Promise<readonly KeyMark[]> {
  const rows = await reading.all(readMarks, prefix, prefixEnd);
  return rows.map((row) => ({ keyId: row.name.slice(prefix.length), markedAt: row.value.toString("latin1") }));
}

/** In the turn "keys". */
export async function markKey(tx: Transaction, keyId: string, now: number): Promise<void> {
  await tx.run(writeMark, `${prefix}${keyId}`, Buffer.from(String(now), "latin1"));
}

/** In the turn "keys". @returns false when the mark has changed since it was read: the key is in use again. */
export async function removeKeyMark(tx: Transaction, mark: KeyMark): Promise<boolean> {
  return (await tx.run(deleteMark, `${prefix}${mark.keyId}`, Buffer.from(mark.markedAt, "latin1"))) === 1;
}
