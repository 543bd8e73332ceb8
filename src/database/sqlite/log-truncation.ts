import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { minuteMs, secondMs } from "../../base/clock.ts";
import type { Checkpoint, CheckpointResult } from "./checkpoint-thread.ts";

const delayMs = secondMs;
const idleIntervalMs = minuteMs;
/** The log is truncated at the latest when it has begun anew this often: ten seconds after the first commit. */
const restartsMax = 9;
const threadMegabytesMax = 16;

/** @returns false when a reader or writer held the log. */
type RunCheckpoint = (checkpoint: Checkpoint) => boolean | Promise<boolean>;

/**
 * The write-ahead log keeps old images of pages, so an overwritten key is gone from all files only after the log has been
 * truncated. While commits arrive, the log is copied and begins anew each second, so that it stays short. It is truncated as soon as
 * no commit has arrived for a second, and at the latest ten seconds after the first one: truncating keeps writers waiting for
 * several times as long. Both are retried while a reader holds the log. Truncation also runs at the start and every minute: a
 * process that was killed, or stopped while another one was reading, could not truncate its own writes.
 *
 * The start does not wait the second: if an earlier process ended because a sync failed, the system's cache may show parts
 * of the log that the disk lacks and that no later sync writes. The truncation copies them into the database first.
 */
export class LogTruncation {
  readonly #inBackground: RunCheckpoint;
  readonly #atOnce: () => boolean;
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** A commit has arrived since the last checkpoint began. */
  #requested = false;
  /** The log may contain what was written since it was truncated. */
  #isPending = false;
  #restarts = 0;
  #closed = false;

  /**
   * @param inBackground while the server works.
   * @param atOnce at the start and at the end, when it does not.
   */
  constructor(inBackground: RunCheckpoint, atOnce: () => boolean, onFailure: (error: unknown) => void) {
    this.#inBackground = inBackground;
    this.#atOnce = atOnce;
    this.#onFailure = onFailure;
    this.#isPending = !this.#truncateAtOnce();
    this.#schedule(this.#isPending ? delayMs : idleIntervalMs);
  }

  request(): void {
    if (this.#requested || this.#closed) return;
    this.#requested = true;
    if (!this.#isPending && this.#running === undefined) this.#schedule(delayMs);
    this.#isPending = true;
  }

  /** Runs a pending truncation once more, immediately. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
    if (this.#isPending) this.#truncateAtOnce();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, ms);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    const checkpoint = this.#requested && this.#restarts < restartsMax ? "restart" : "truncate";
    this.#requested = false;
    const isDone = await this.#runInBackground(checkpoint);
    // A truncation that failed is repeated whatever arrives meanwhile.
    if (checkpoint === "truncate") this.#restarts = isDone ? 0 : restartsMax;
    else this.#restarts += 1;
    this.#isPending = checkpoint === "restart" || !isDone || this.#requested;
    this.#running = undefined;
    if (!this.#closed) this.#schedule(this.#isPending ? delayMs : idleIntervalMs);
  }

  async #runInBackground(checkpoint: Checkpoint): Promise<boolean> {
    try {
      return await this.#inBackground(checkpoint);
    } catch (error) {
      this.#onFailure(error);
      return false;
    }
  }

  #truncateAtOnce(): boolean {
    try {
      return this.#atOnce();
    } catch (error) {
      this.#onFailure(error);
      return false;
    }
  }
}

/** Runs the checkpoints of a database in a thread, which starts when it is first needed. */
export class CheckpointThread {
  readonly #path: string;
  #worker: Worker | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** One at a time. @returns as RunCheckpoint. @throws Error. */
  async run(checkpoint: Checkpoint): Promise<boolean> {
    const worker = this.#worker ?? this.#start();
    worker.postMessage(checkpoint);
    const [result] = await this.#nextMessage(worker);
    if (result?.outcome === "failed") {
      const { code } = result;
      // Logs have codes of errors, never their messages.
      throw Object.assign(new Error(`The write-ahead log could not be truncated: ${code}`), { code });
    }
    return result?.outcome === "done";
  }

  /** Call it when none is running. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  async #nextMessage(worker: Worker): Promise<CheckpointResult[]> {
    try {
      return await once(worker, "message");
    } catch (error) {
      // It ends by its own error. The next checkpoint starts another one.
      this.#worker = undefined;
      throw error;
    }
  }

  #start(): Worker {
    // The build has one file for the thread, beside its own.
    const module = new URL(`./checkpoint-thread${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(module, {
      workerData: this.#path,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: threadMegabytesMax },
    });
    worker.unref();
    this.#worker = worker;
    return worker;
  }
}
