import { minuteMs, secondMs } from "../../base/clock.ts";

const delayMs = secondMs;
const lookEveryMs = minuteMs;

/**
 * The write-ahead log keeps old images of pages, so an overwritten key is out of all files only once the log has been
 * cut. That happens about a second after the first overwriting since the last cut - not at each, which would cost a
 * checkpoint a view - and is tried again while a reader holds the log. It also happens after the start and every minute:
 * a process that was killed, or left while another one read, could not cut what it wrote.
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
    this.#runIn(delayMs);
  }

  /** What was requested is tried once more, at once. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#requested) this.#cut();
  }

  #runIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#run(), ms);
    this.#timer.unref();
  }

  #run(): void {
    this.#requested = false;
    if (this.#cut()) this.#runIn(lookEveryMs);
    else this.request();
  }

  #cut(): boolean {
    try {
      return this.#truncate();
    } catch (error) {
      this.#onFailure(error);
      return false;
    }
  }
}
