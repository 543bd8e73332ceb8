import type { Database as Connection, Statement as PreparedStatement } from "better-sqlite3";
import { unavailable } from "../../base/errors.ts";
import type { Statement, Value } from "../statement.ts";
import { sqliteCode } from "./group-commit.ts";

const batchReadsMax = 256;
const waitingReadsMax = 20_000;
const retryAfterSeconds = 2;

interface Prepared {
  readonly hot: PreparedStatement<unknown[]>;
  readonly patient: PreparedStatement<unknown[]>;
}

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
  readonly #begin: PreparedStatement;
  readonly #end: PreparedStatement;
  #waiting: WaitingRead[] = [];
  #scheduled = false;

  constructor(writer: Connection, reader: Connection) {
    this.#writer = writer;
    this.#reader = reader;
    this.#begin = writer.prepare("BEGIN");
    this.#end = writer.prepare("COMMIT");
  }

  readonly #prepared = new Map<unknown, Prepared>();

  /** @throws AppError unavailable when too many wait. */
  one<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<Row | undefined> {
    if (this.#waiting.length >= waitingReadsMax) {
      return Promise.reject(unavailable("Too many requests are waiting. Try again shortly.", retryAfterSeconds));
    }
    const prepared = this.#prepare(statement);
    return new Promise((resolve, reject) => {
      this.#waiting.push((together) => {
        try {
          resolve(read(prepared, parameters, together) as Row | undefined);
        } catch (error) {
          reject(error);
        }
      });
      this.#schedule();
    });
  }

  /** Answers what waits. */
  close(): void {
    while (this.#waiting.length > 0) this.#run();
  }

  #prepare(statement: { readonly sqlite: string }): Prepared {
    const known = this.#prepared.get(statement);
    if (known !== undefined) return known;
    const { sqlite } = statement;
    const prepared = { hot: this.#writer.prepare<unknown[]>(sqlite), patient: this.#reader.prepare<unknown[]>(sqlite) };
    this.#prepared.set(statement, prepared);
    return prepared;
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

function read({ hot, patient }: Prepared, parameters: readonly Value[], together: boolean): unknown {
  if (!together) return patient.get(...parameters);
  try {
    return hot.get(...parameters);
  } catch (error) {
    // The writer waits for nobody, so a log that another process is recovering turns even its readings away.
    if (!sqliteCode(error).startsWith("SQLITE_BUSY")) throw error;
    return patient.get(...parameters);
  }
}
