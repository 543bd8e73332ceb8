import { closeSync, fdatasync, openSync } from "node:fs";
import { unavailable } from "../../base/errors.ts";

/** As `fdatasync` of Node. */
export type SyncFile = (file: number, done: (error: NodeJS.ErrnoException | null) => void) => void;

const retryAfterSeconds = 2;

/**
 * Syncs the write-ahead log in the thread pool, so that the event loop works while the disk does. SQLite itself commits
 * without a sync (`synchronous=NORMAL`): it syncs the log before a checkpoint copies its pages into the database, and the
 * database before the log is overwritten.
 */
export class LogSync {
  readonly #file: number;
  readonly #onSync: () => void;
  readonly #syncFile: SyncFile;
  #running: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;

  /** @param onSync called before each sync. */
  constructor(logPath: string, onSync: () => void, syncFile: SyncFile = fdatasync) {
    // SQLite locks the database and its index, not the log: closing this descriptor releases none of its locks.
    this.#file = openSync(logPath, "r+");
    this.#onSync = onSync;
    this.#syncFile = syncFile;
  }

  /**
   * After a failed sync, the system's cache may show commits that the disk lacks, and another sync would report success. So
   * nothing may be acknowledged or copied out of the log any more. The next start verifies the checksums of the log.
   */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /**
   * Makes what is committed durable. Commits between a call and its result are not covered, so there must be none.
   * @throws the error of the operating system.
   */
  async sync(): Promise<void> {
    this.#onSync();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#running = promise;
    this.#syncFile(this.#file, (error) => (error === null ? resolve() : reject(error)));
    try {
      await promise;
      this.#running = undefined;
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  /**
   * @returns undefined: everything that is committed is durable; otherwise resolves when it is.
   * @throws AppError unavailable when the sync fails or has failed.
   */
  durable(): Promise<void> | undefined {
    return this.#running?.catch((error: unknown) => {
      throw unavailable("The storage cannot take writes now.", retryAfterSeconds, error);
    });
  }

  /** Call it when nothing is written any more. */
  close(): void {
    if (!this.#isClosed) closeSync(this.#file);
    this.#isClosed = true;
  }
}
