import type { Database } from "./sqlite.ts";

const delayMs = 1_000;

/**
 * The write-ahead log keeps old images of pages, so an overwritten key is out of all files only once the log has been
 * cut. That happens about a second after the first overwriting since the last cut - not at each, which would cost a
 * checkpoint a view - and is tried again while a reader holds the log.
 */
export class LogTruncation {
  readonly #truncate: () => boolean;
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(db: Pick<Database, "truncateLog">, onFailure: (error: unknown) => void) {
    this.#truncate = () => db.truncateLog();
    this.#onFailure = onFailure;
  }

  request(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => this.#run(), delayMs);
    this.#timer.unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#timer = undefined;
    try {
      if (!this.#truncate()) this.request();
    } catch (error) {
      this.#onFailure(error);
      this.request();
    }
  }
}
