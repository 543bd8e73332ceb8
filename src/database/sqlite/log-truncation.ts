import { minuteMs, secondMs } from "../../base/clock.ts";

const delayMs = secondMs;
const idleIntervalMs = minuteMs;

/**
 * The write-ahead log keeps old images of pages, so an overwritten key is gone from all files only after the log has been
 * truncated. Truncation runs about a second after the first overwrite since the last truncation, because truncating after
 * each one would cost a checkpoint per view. It is retried while a reader holds the log. It also runs at the start and
 * every minute: a process that was killed, or stopped while another one was reading, could not truncate its own writes.
 *
 * The start does not wait the second: if an earlier process ended because a sync failed, the system's cache may show parts
 * of the log that the disk lacks and that no later sync writes. The truncation copies them into the database first.
 */
export class LogTruncation {
  readonly #truncate: () => boolean;
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #requested = false;
  #closed = false;

  /** @param truncate false when a reader or writer held the log. */
  constructor(truncate: () => boolean, onFailure: (error: unknown) => void) {
    this.#truncate = truncate;
    this.#onFailure = onFailure;
    this.#run();
  }

  request(): void {
    if (this.#requested || this.#closed) return;
    this.#requested = true;
    this.#schedule(delayMs);
  }

  /** Runs a pending truncation once more, immediately. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#requested) this.#tryTruncate();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#run(), ms);
    this.#timer.unref();
  }

  #run(): void {
    this.#requested = false;
    if (this.#tryTruncate()) this.#schedule(idleIntervalMs);
    else this.request();
  }

  #tryTruncate(): boolean {
    try {
      return this.#truncate();
    } catch (error) {
      this.#onFailure(error);
      return false;
    }
  }
}
