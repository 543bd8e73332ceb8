import { errorCode, unavailable } from "../../base/errors.ts";
import { Gathering } from "../gathering.ts";
import { CommitSums } from "./commit-sums.ts";
import type { Connection, Statement } from "./driver.ts";
import type { LogSync } from "./log-sync.ts";

interface WaitingTransaction {
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly deadline: number;
}

export interface GroupCommitLimits {
  readonly batchMax: number;
  readonly waitingMax: number;
  /** How long a transaction may wait for another process to release the write lock. */
  readonly lockWaitMsMax: number;
}

export interface GroupCommitEffects {
  readonly monotonicMs: () => number;
  readonly onStorageFailure: (code: string) => void;
  /** What the transactions of a batch add to, written before its commit. */
  readonly sums?: CommitSums;
}

const busyRetryMs = 2;
const retryAfterSeconds = 2;

/** After these errors the outcome of the whole batch is uncertain, even if SQLite kept the transaction open. */
const storageFailure = /^SQLITE_(FULL|IOERR|NOMEM|CORRUPT|NOTADB|READONLY|CANTOPEN|PROTOCOL)/;

export function isBusy(error: unknown): boolean {
  return errorCode(error)?.startsWith("SQLITE_BUSY") === true;
}

/**
 * Write transactions that arrive together share one commit, so one sync of the log serves them all. The log is synced in the
 * thread pool, and transactions that arrive meanwhile wait for the next batch. A transaction's promise settles only after the
 * sync: an acknowledged write is durable. If a transaction throws, only it is undone: the batch is rolled back and run again
 * with a savepoint around each transaction. Using savepoints from the start would cost a tenth of the server's time, although
 * transactions hardly ever throw. The whole batch fails with 503 if the storage fails or if the shared transaction ends. For
 * example, SQLITE_FULL rolls the batch back, and later statements would autocommit.
 *
 * The driver never waits for the lock, because that would block the event loop. A timer retries when the database is busy.
 */
export class GroupCommit {
  readonly #writer: Connection;
  readonly #log: Pick<LogSync, "sync" | "hasFailed">;
  readonly #limits: GroupCommitLimits;
  readonly #monotonicMs: () => number;
  readonly #onStorageFailure: (code: string) => void;
  readonly #sums: CommitSums;
  readonly #gathering: Gathering;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #savepoint: Statement;
  readonly #release: Statement;
  readonly #rollbackToSavepoint: Statement;
  #waiting: WaitingTransaction[] = [];
  #scheduled = false;
  /** A transaction of the next batch threw in its first run. */
  #needsSavepoints = false;
  #closed = false;
  /** A batch is being written or synced. */
  #running = false;
  #commits = 0;
  #transactions = 0;

  constructor(
    writer: Connection,
    log: Pick<LogSync, "sync" | "hasFailed">,
    limits: GroupCommitLimits,
    { monotonicMs, onStorageFailure, sums = new CommitSums() }: GroupCommitEffects,
  ) {
    this.#writer = writer;
    this.#log = log;
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#onStorageFailure = onStorageFailure;
    this.#sums = sums;
    this.#gathering = new Gathering(monotonicMs, limits.batchMax);
    this.#begin = writer.prepare("BEGIN IMMEDIATE");
    this.#commit = writer.prepare("COMMIT");
    this.#rollback = writer.prepare("ROLLBACK");
    this.#savepoint = writer.prepare("SAVEPOINT one");
    this.#release = writer.prepare("RELEASE one");
    this.#rollbackToSavepoint = writer.prepare("ROLLBACK TO one");
  }

  get counts(): { readonly commits: number; readonly transactions: number; readonly waiting: number } {
    return { commits: this.#commits, transactions: this.#transactions, waiting: this.#waiting.length };
  }

  /**
   * `run` must use only the writer connection and await nothing else: it may be undone and run twice.
   * @throws AppError unavailable (too many are waiting, no lock in time, the storage failed), or what `run` threw. A failed
   * sync is also an unhandled rejection, which ends the process.
   */
  write<T>(run: () => T | Promise<T>): Promise<T> {
    if (this.#closed || this.#log.hasFailed) {
      return Promise.reject(unavailable("The server is shutting down.", retryAfterSeconds));
    }
    if (this.#waiting.length >= this.#limits.waitingMax) {
      return Promise.reject(unavailable("Too many writes are waiting. Try again shortly.", retryAfterSeconds));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        run,
        resolve: resolve as WaitingTransaction["resolve"],
        reject,
        deadline: this.#monotonicMs() + this.#limits.lockWaitMsMax,
      });
      this.#schedule();
    });
  }

  /** Refuses further writes and resolves once the waiting ones are committed or have failed. */
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
    if (this.#gathering.goesOn(this.#waiting.length)) {
      this.#schedule();
      return;
    }
    try {
      this.#begin.run();
    } catch (error) {
      this.#waitOrFail(error);
      return;
    }
    const batch = this.#waiting.splice(0, this.#limits.batchMax);
    this.#gathering.began(batch.length);
    this.#running = true;
    void this.#commitBatch(batch).finally(() => {
      this.#running = false;
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #waitOrFail(error: unknown): void {
    const busy = isBusy(error);
    const now = this.#monotonicMs();
    const failed = busy ? this.#waiting.filter((tx) => tx.deadline <= now) : this.#waiting;
    this.#waiting = busy ? this.#waiting.filter((tx) => tx.deadline > now) : [];
    this.#failAll(failed, error);
    if (this.#waiting.length > 0) {
      this.#scheduled = true;
      setTimeout(() => this.#flush(), busyRetryMs);
    }
  }

  async #commitBatch(batch: readonly WaitingTransaction[]): Promise<void> {
    const needsSavepoints = this.#needsSavepoints;
    this.#needsSavepoints = false;
    let settle: readonly (() => void)[] | undefined;
    try {
      settle = needsSavepoints ? await this.#runInSavepoints(batch) : await this.#runTogether(batch);
      if (settle === undefined) {
        this.#needsSavepoints = true;
        this.#waiting.unshift(...batch);
        return;
      }
      this.#sums.write();
      this.#commit.run();
    } catch (error) {
      this.#sums.clear();
      if (this.#writer.inTransaction) this.#rollback.run();
      this.#failAll(batch, error);
      return;
    }
    try {
      await this.#log.sync();
    } catch (error) {
      this.#failAll([...batch, ...this.#waiting.splice(0)], error);
      throw error;
    }
    this.#commits += 1;
    this.#transactions += batch.length;
    for (const done of settle) done();
  }

  /**
   * @returns callbacks that settle the transactions once the batch is durable; undefined: one of them threw and all are
   * rolled back.
   * @throws when the batch as a whole is lost.
   */
  async #runTogether(batch: readonly WaitingTransaction[]): Promise<(() => void)[] | undefined> {
    const settle: (() => void)[] = [];
    try {
      for (const tx of batch) {
        const ran = tx.run();
        // Awaiting a plain value would cost each synchronous transaction a microtask.
        const value = ran instanceof Promise ? await ran : ran;
        if (!this.#writer.inTransaction) throw new Error("The work of a transaction ended the transaction itself.");
        settle.push(() => tx.resolve(value));
      }
      return settle;
    } catch (error) {
      this.#throwIfLost(error);
      this.#sums.clear();
      this.#rollback.run();
      return undefined;
    }
  }

  async #runInSavepoints(batch: readonly WaitingTransaction[]): Promise<(() => void)[]> {
    const settle: (() => void)[] = [];
    for (const tx of batch) settle.push(await this.#runInSavepoint(tx));
    return settle;
  }

  /** As `runTogether`, for one transaction: if it throws, only its changes are undone. */
  async #runInSavepoint(tx: WaitingTransaction): Promise<() => void> {
    this.#savepoint.run();
    const undoSums = this.#sums.mark();
    try {
      const value = await tx.run();
      this.#release.run();
      return () => tx.resolve(value);
    } catch (error) {
      this.#throwIfLost(error);
      undoSums();
      this.#rollbackToSavepoint.run();
      this.#release.run();
      return () => tx.reject(error);
    }
  }

  #throwIfLost(error: unknown): void {
    if (!this.#writer.inTransaction || storageFailure.test(errorCode(error) ?? "")) throw error;
  }

  #failAll(transactions: readonly WaitingTransaction[], error: unknown): void {
    if (transactions.length === 0) return;
    const refusal = unavailable("The storage cannot take writes now.", retryAfterSeconds, error);
    for (const tx of transactions) tx.reject(refusal);
    this.#onStorageFailure(errorCode(error) ?? "");
  }
}
