import { minuteMs, secondMs } from "../../base/clock.ts";

const delayMs = secondMs;
const idleIntervalMs = minuteMs;

/**
 * The write-ahead log keeps old images of pages, so an overwritten key is gone from all files only after the log has been
 * truncated. That happens about a second after the first overwriting since the last truncation (truncating after each would
 * cost one checkpoint per view) and is retried while a reader holds the log. It also happens after the start and every
 * minute, for processes that were killed, or stopped while another one was reading, and could not truncate what they wrote.
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
    this.request();
  }

  request(): void {
    if (this.#requested || this.#closed) return;
    this.#requested = true;
    this.#schedule(delayMs);
  }

  /** A requested truncation is tried once more, immediately. */
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
