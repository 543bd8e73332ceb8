import type { Database as Connection, Statement } from "better-sqlite3";
import { unavailable } from "../../base/errors.ts";

interface WaitingUnit {
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly givesUpAt: number;
}

export interface GroupCommitLimits {
  readonly batchUnitsMax: number;
  readonly waitingUnitsMax: number;
  /** How long a transaction may wait for another process to release the write lock. */
  readonly lockWaitMsMax: number;
}

const busyRetryMs = 2;
const retryAfterSeconds = 2;

/** Error codes after which nothing of the batch can be trusted, even if SQLite kept the transaction open. */
const storageFailure = /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT|NOTADB|READONLY|CANTOPEN|PROTOCOL)/;

/** Empty when it is no error of the driver's. */
export function sqliteCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * Transactions of writing that arrive together share one commit, so one sync of the log serves all of them. A transaction's promise
 * settles only after COMMIT returned: what is acknowledged is durable. A transaction that throws is undone alone: the batch is
 * rolled back and run once more, each transaction in a savepoint of its own. To give every transaction one from the start would cost a
 * tenth of the server's time for what hardly ever happens. A failure that ends the transaction itself (SQLITE_FULL rolls
 * the whole batch back, and whatever ran next would autocommit) or that concerns the storage fails every member, as 503.
 *
 * The lock is never waited for inside the driver, which would stop the event loop: a busy database is tried again
 * from a timer.
 */
export class GroupCommit {
  readonly #writer: Connection;
  readonly #limits: GroupCommitLimits;
  readonly #monotonicMs: () => number;
  readonly #onStorageFailure: (code: string) => void;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #beginUnit: Statement;
  readonly #releaseUnit: Statement;
  readonly #undoUnit: Statement;
  #waiting: WaitingUnit[] = [];
  #scheduled = false;
  /** The next batch holds a transaction that threw. */
  #apart = false;
  #closed = false;
  /** A batch is being written: only an asynchronous transaction keeps one open for longer than a turn of the event loop. */
  #running = false;
  #commits = 0;
  #units = 0;

  constructor(
    writer: Connection,
    limits: GroupCommitLimits,
    monotonicMs: () => number,
    onStorageFailure: (code: string) => void,
  ) {
    this.#writer = writer;
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#onStorageFailure = onStorageFailure;
    this.#begin = writer.prepare("BEGIN IMMEDIATE");
    this.#commit = writer.prepare("COMMIT");
    this.#rollback = writer.prepare("ROLLBACK");
    this.#beginUnit = writer.prepare("SAVEPOINT unit");
    this.#releaseUnit = writer.prepare("RELEASE unit");
    this.#undoUnit = writer.prepare("ROLLBACK TO unit");
  }

  get counts(): { readonly commits: number; readonly units: number; readonly waiting: number } {
    return { commits: this.#commits, units: this.#units, waiting: this.#waiting.length };
  }

  /**
   * `run` must touch nothing but the writer connection, and await nothing else: it may be undone, and run twice.
   * @throws AppError unavailable (too many waiting, lock not obtained in time, storage failed), or what `run` threw.
   */
  write<T>(run: () => T | Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable("The server is shutting down.", retryAfterSeconds));
    if (this.#waiting.length >= this.#limits.waitingUnitsMax) {
      return Promise.reject(unavailable("Too many writes are waiting. Try again shortly.", retryAfterSeconds));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        run,
        resolve: (value) => resolve(value as T),
        reject,
        givesUpAt: this.#monotonicMs() + this.#limits.lockWaitMsMax,
      });
      this.#schedule();
    });
  }

  /** Refuses further writes and resolves once those that wait are committed, or have given up. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#waiting.length > 0 || this.#running) await new Promise((resolve) => setTimeout(resolve, busyRetryMs));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#waiting.length === 0 || this.#running) return;
    try {
      this.#begin.run();
    } catch (error) {
      this.#waitOrFail(error);
      return;
    }
    const batch = this.#waiting.splice(0, this.#limits.batchUnitsMax);
    this.#running = true;
    void this.#commitBatch(batch).finally(() => {
      this.#running = false;
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #waitOrFail(error: unknown): void {
    const busy = sqliteCode(error).startsWith("SQLITE_BUSY");
    const now = this.#monotonicMs();
    const failed = busy ? this.#waiting.filter((tx) => tx.givesUpAt <= now) : this.#waiting;
    this.#waiting = busy ? this.#waiting.filter((tx) => tx.givesUpAt > now) : [];
    this.#failAll(failed, error);
    if (this.#waiting.length > 0) {
      this.#scheduled = true;
      setTimeout(() => this.#flush(), busyRetryMs);
    }
  }

  async #commitBatch(batch: readonly WaitingUnit[]): Promise<void> {
    const apart = this.#apart;
    this.#apart = false;
    let settle: readonly (() => void)[] | undefined;
    try {
      settle = apart ? await this.#runAllApart(batch) : await this.#runTogether(batch);
      if (settle === undefined) {
        this.#apart = true;
        this.#waiting.unshift(...batch);
        return;
      }
      this.#commit.run();
    } catch (error) {
      if (this.#writer.inTransaction) this.#rollback.run();
      this.#failAll(batch, error);
      return;
    }
    this.#commits += 1;
    this.#units += batch.length;
    for (const done of settle) done();
  }

  /**
   * @returns how to settle the transactions once the batch is durable; undefined when one of them threw and all is rolled back.
   * Throws only when the batch as a whole is lost.
   */
  async #runTogether(batch: readonly WaitingUnit[]): Promise<(() => void)[] | undefined> {
    const settle: (() => void)[] = [];
    try {
      for (const tx of batch) {
        const ran = tx.run();
        // To await what is there already would cost each transaction of the hot path a turn.
        const value = ran instanceof Promise ? await ran : ran;
        if (!this.#writer.inTransaction) throw new Error("A transaction ended its transaction.");
        settle.push(() => tx.resolve(value));
      }
      return settle;
    } catch (error) {
      this.#throwIfLost(error);
      this.#rollback.run();
      return undefined;
    }
  }

  async #runAllApart(batch: readonly WaitingUnit[]): Promise<(() => void)[]> {
    const settle: (() => void)[] = [];
    for (const tx of batch) settle.push(await this.#runApart(tx));
    return settle;
  }

  /** As `runTogether`, for one transaction: what it did is undone alone when it throws. */
  async #runApart(tx: WaitingUnit): Promise<() => void> {
    this.#beginUnit.run();
    try {
      const value = await tx.run();
      this.#releaseUnit.run();
      return () => tx.resolve(value);
    } catch (error) {
      this.#throwIfLost(error);
      this.#undoUnit.run();
      this.#releaseUnit.run();
      return () => tx.reject(error);
    }
  }

  #throwIfLost(error: unknown): void {
    if (!this.#writer.inTransaction || storageFailure.test(sqliteCode(error))) throw error;
  }

  #failAll(units: readonly WaitingUnit[], error: unknown): void {
    if (units.length === 0) return;
    const refusal = unavailable("The storage cannot take writes now.", retryAfterSeconds, error);
    for (const tx of units) tx.reject(refusal);
    this.#onStorageFailure(sqliteCode(error));
  }
}
