import { parentPort, workerData } from "node:worker_threads";
import { SqliteDriver, SqliteError } from "./driver.ts";

/**
 * A thread with a connection of its own that copies the write-ahead log into the database and truncates it. Both wait for
 * the disk. See LogTruncation.
 */

/** What the thread answers to any message. */
export type CheckpointResult =
  | { readonly outcome: "truncated" }
  /** A reader or writer held the log. */
  | { readonly outcome: "busy" }
  | { readonly outcome: "failed"; readonly code: string };

const port = parentPort;
if (port === null) throw new Error("This module runs in a thread.");

/** Writers hold their lock only while a batch is being written, so a few attempts are enough. */
const attemptsMax = 50;
const attemptPauseMs = 2;
const pause = new Int32Array(new SharedArrayBuffer(4));

// Truncating holds the write lock. While it waited for readers, no write could begin, so it never waits.
const connection = new SqliteDriver(String(workerData), { fileMustExist: true, timeout: 0 });
connection.pragma("synchronous = NORMAL");
const copy = connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
const truncate = connection.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)");

function checkpoint(): CheckpointResult {
  // Holds no lock that writers need, and leaves little to the truncation.
  copy.get();
  for (let attempts = 1; attempts <= attemptsMax; attempts += 1) {
    if (truncate.get()?.busy === 0) return { outcome: "truncated" };
    Atomics.wait(pause, 0, 0, attemptPauseMs);
  }
  return { outcome: "busy" };
}

port.on("message", () => {
  try {
    port.postMessage(checkpoint());
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
    port.postMessage({ outcome: "failed", code: error.code } satisfies CheckpointResult);
  }
});
