import { parentPort, workerData } from "node:worker_threads";
import { SqliteDriver, SqliteError } from "./driver.ts";

/**
 * A thread with a connection of its own that copies the write-ahead log into the database, and lets the log begin anew or truncates
 * it. All of this waits for the disk. See LogTruncation.
 */

/**
 * What a message asks for. "restart": the next commit writes to the begin of the log, and old images of pages stay behind it.
 * "truncate": they are gone, but the file system takes several times as long, and no writer can begin meanwhile.
 */
export type Checkpoint = "restart" | "truncate";

/** What the thread answers. */
export type CheckpointResult =
  | { readonly outcome: "done" }
  /** A reader or writer held the log. */
  | { readonly outcome: "busy" }
  | { readonly outcome: "failed"; readonly code: string };

const port = parentPort;
if (port === null) throw new Error("This module runs in a thread.");

/** Writers hold their lock only while a batch is being written, so a few attempts are enough. */
const attemptsMax = 50;
const attemptPauseMs = 2;
const pause = new Int32Array(new SharedArrayBuffer(4));

// Both hold the write lock. While they waited for readers, no write could begin, so they never wait.
const connection = new SqliteDriver(String(workerData), { fileMustExist: true, timeout: 0 });
connection.pragma("synchronous = NORMAL");
const copy = connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
const statements = {
  restart: connection.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(RESTART)"),
  truncate: connection.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)"),
};

function run(checkpoint: Checkpoint): CheckpointResult {
  // Holds no lock that writers need, and leaves little to the statement.
  copy.get();
  for (let attempts = 1; attempts <= attemptsMax; attempts += 1) {
    if (statements[checkpoint].get()?.busy === 0) return { outcome: "done" };
    Atomics.wait(pause, 0, 0, attemptPauseMs);
  }
  return { outcome: "busy" };
}

port.on("message", (checkpoint: Checkpoint) => {
  try {
    port.postMessage(run(checkpoint));
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
    port.postMessage({ outcome: "failed", code: error.code } satisfies CheckpointResult);
  }
});
