import type { Database as Connection, Statement } from "better-sqlite3";
import { unavailable } from "../base/errors.ts";
import { sqliteCode } from "./group-commit.ts";

const batchReadsMax = 256;
const waitingReadsMax = 20_000;
const retryAfterSeconds = 2;

/** `together`: inside the shared read transaction. */
type WaitingRead = (together: boolean) => void;

/**
 * Readings of one row for the hot path. They run on the writer's connection, whose cache outlives its own commits, while
 * the reader's is empty after each; batches of writing are synchronous, so between them the writer, too, sees nothing
 * but what is committed and durable. Those that arrive in one turn of the event loop share one read transaction, which
 * spares each its locks, and run one after the other, which keeps the processor's caches warm.
 */
export class HotReads {
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #begin: Statement;
  readonly #end: Statement;
  #waiting: WaitingRead[] = [];
  #scheduled = false;

  constructor(writer: Connection, reader: Connection) {
    this.#writer = writer;
    this.#reader = reader;
    this.#begin = writer.prepare("BEGIN");
    this.#end = writer.prepare("COMMIT");
  }

  /** The prepared reading rejects with AppError unavailable when too many wait. */
  prepare<Parameters extends unknown[], Row>(sql: string): (...parameters: Parameters) => Promise<Row | undefined> {
    const hot = this.#writer.prepare<Parameters, Row>(sql);
    const patient = this.#reader.prepare<Parameters, Row>(sql);
    const read = (parameters: Parameters, together: boolean) => {
      if (!together) return patient.get(...parameters);
      try {
        return hot.get(...parameters);
      } catch (error) {
        // The writer waits for nobody, so a log that another process is recovering turns even its readings away.
        if (!sqliteCode(error).startsWith("SQLITE_BUSY")) throw error;
        return patient.get(...parameters);
      }
    };
    return (...parameters) => {
      if (this.#waiting.length >= waitingReadsMax) {
        return Promise.reject(unavailable("Too many requests are waiting. Try again shortly.", retryAfterSeconds));
      }
      return new Promise((resolve, reject) => {
        this.#waiting.push((together) => {
          try {
            resolve(read(parameters, together));
          } catch (error) {
            reject(error);
          }
        });
        this.#schedule();
      });
    };
  }

  /** Answers what waits. */
  close(): void {
    while (this.#waiting.length > 0) this.#run();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#scheduled = false;
    const batch = this.#waiting.splice(0, batchReadsMax);
    if (batch.length === 0) return;
    if (this.#waiting.length > 0) this.#schedule();
    // A writer that is still in a transaction failed to undo one: what it sees is not committed.
    const together = !this.#writer.inTransaction;
    if (together) this.#begin.run();
    for (const read of batch) read(together);
    // A failing disk may have ended it.
    if (together && this.#writer.inTransaction) this.#end.run();
  }
}
