import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { minuteMs, secondMs } from "../../base/clock.ts";
import type { CheckpointResult } from "./checkpoint-thread.ts";

const delayMs = secondMs;
const idleIntervalMs = minuteMs;
const threadMegabytesMax = 16;

/** @returns false when a reader or writer held the log. */
export type TruncateLog = () => boolean | Promise<boolean>;

/**
 * The write-ahead log keeps old images of pages, so an overwritten key is gone from all files only after the log has been
 * truncated. Truncation runs about a second after the first commit since the last truncation, because truncating after
 * each one would cost a checkpoint per view. It is retried while a reader holds the log. It also runs at the start and
 * every minute: a process that was killed, or stopped while another one was reading, could not truncate its own writes.
 *
 * The start does not wait the second: if an earlier process ended because a sync failed, the system's cache may show parts
 * of the log that the disk lacks and that no later sync writes. The truncation copies them into the database first.
 */
export class LogTruncation {
  readonly #inBackground: TruncateLog;
  readonly #atOnce: () => boolean;
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #requested = false;
  #closed = false;

  /**
   * @param inBackground while the server works.
   * @param atOnce at the start and at the end, when it does not.
   */
  constructor(inBackground: TruncateLog, atOnce: () => boolean, onFailure: (error: unknown) => void) {
    this.#inBackground = inBackground;
    this.#atOnce = atOnce;
    this.#onFailure = onFailure;
    if (this.#truncateAtOnce()) this.#schedule(idleIntervalMs);
    else this.request();
  }

  request(): void {
    if (this.#requested || this.#closed) return;
    this.#requested = true;
    if (this.#running === undefined) this.#schedule(delayMs);
  }

  /** Runs a pending truncation once more, immediately. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
    if (this.#requested) this.#truncateAtOnce();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, ms);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    this.#requested = false;
    try {
      if (!(await this.#inBackground())) this.#requested = true;
    } catch (error) {
      this.#onFailure(error);
      this.#requested = true;
    }
    this.#running = undefined;
    if (!this.#closed) this.#schedule(this.#requested ? delayMs : idleIntervalMs);
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

/** Truncates the log of a database in a thread, which starts when it is first needed. */
export class CheckpointThread {
  readonly #path: string;
  #worker: Worker | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** One at a time. @returns as TruncateLog. @throws Error. */
  async truncate(): Promise<boolean> {
    const worker = this.#worker ?? this.#start();
    worker.postMessage("truncate");
    const [result] = await this.#nextMessage(worker);
    if (result?.outcome === "failed") throw new Error(`The write-ahead log could not be truncated: ${result.code}`);
    return result?.outcome === "truncated";
  }

  /** Call it when no truncation is running. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  async #nextMessage(worker: Worker): Promise<CheckpointResult[]> {
    try {
      return await once(worker, "message");
    } catch (error) {
      // It ends by its own error. The next truncation starts another one.
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
