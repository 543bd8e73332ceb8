import { minuteMs, secondMs } from "../base/clock.ts";
import type { Database, ReadConnection, Transaction } from "./database.ts";
import { putMeta } from "./meta.ts";
import { sql } from "./statement.ts";

/** A running process on this database, and the master keys that it has. */
export interface RunningProcess {
  readonly id: string;
  readonly activeKeyId: string;
  readonly keyIds: readonly string[];
}

export const heartbeatMs = 10 * secondMs;
/** A process that has missed three heartbeats counts as stopped. */
const goneAfterMs = 3 * heartbeatMs + secondMs;
/** A process that was not seen for so long may have counted as stopped: less than `goneAfterMs`, because clocks differ. */
export const unseenAfterMs = 2 * heartbeatMs + secondMs;
const forgottenAfterMs = 10 * minuteMs;

const writeBeat = sql<[id: string, activeKeyId: string, keyIds: string, seenAt: number]>(
  `INSERT INTO processes (id, active_key_id, key_ids, seen_at) VALUES (?, ?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
);
const forgetOld = sql<[seenBefore: number]>("DELETE FROM processes WHERE seen_at < ?");
const deleteProcess = sql<[id: string]>("DELETE FROM processes WHERE id = ?");
const seenSince = sql<[since: number], { id: string; activeKeyId: string; keyIds: string }>(
  "SELECT id, active_key_id AS activeKeyId, key_ids AS keyIds FROM processes WHERE seen_at > ? ORDER BY id",
);

export function createProcessRegistry(db: Database) {
  return {
    /**
     * Called before a process seals its first row, and then every `heartbeatMs`. Each call marks the active key as in use, so
     * a process that counted as gone (it started late or was suspended) cancels the retirement of its key.
     */
    beat: (process: RunningProcess, now: number): Promise<void> =>
      db.writeSerialized("keys", async (tx) => {
        await tx.run(writeBeat, process.id, process.activeKeyId, process.keyIds.join(","), now);
        await markKey(tx, process.activeKeyId, now);
        await tx.run(forgetOld, now - forgottenAfterMs);
      }),
    async remove(id: string): Promise<void> {
      await db.autocommit({ retry: "whenNotExecuted" }).run(deleteProcess, id);
    },
    /**
     * @param connection the transaction whose write depends on the result, under the lock "keys". Default: a read of durable
     * rows.
     */
    async running(now: number, connection: ReadConnection = db.read): Promise<readonly RunningProcess[]> {
      const rows = await connection.all(seenSince, now - goneAfterMs);
      return rows.map((row) => ({ ...row, keyIds: row.keyIds.split(",") }));
    },
  };
}

/** A master key under which rows of this database may be sealed. */
export interface KeyMark {
  readonly keyId: string;
  /** Changes with each heartbeat of a process that seals under the key. */
  readonly markedAt: string;
}

const prefix = "key_in_use:";
/** Sorts after all names with the prefix. */
const prefixEnd = "key_in_use;";

const readMarks = sql<[from: string, to: string], { name: string; value: Buffer }>(
  "SELECT name, value FROM meta WHERE name >= ? AND name < ? ORDER BY name",
);
const deleteMark = sql<[name: string, value: Buffer]>("DELETE FROM meta WHERE name = ? AND value = ?");

/** Ordered by key id. */
export async function readKeyMarks(connection: ReadConnection): Promise<readonly KeyMark[]> {
  const rows = await connection.all(readMarks, prefix, prefixEnd);
  return rows.map((row) => ({ keyId: row.name.slice(prefix.length), markedAt: row.value.toString("latin1") }));
}

/** Requires the lock "keys". */
export async function markKey(tx: Transaction, keyId: string, now: number): Promise<void> {
  await tx.run(putMeta, `${prefix}${keyId}`, Buffer.from(String(now), "latin1"));
}

/** Requires the lock "keys". @returns false when the mark has changed since it was read: the key is in use again. */
export async function removeKeyMark(tx: Transaction, mark: KeyMark): Promise<boolean> {
  return (await tx.run(deleteMark, `${prefix}${mark.keyId}`, Buffer.from(mark.markedAt, "latin1"))) === 1;
}
