import { unavailable } from "../../base/errors.ts";
import type { Statement, Value } from "../statement.ts";
import type { Connection, Statement as PreparedStatement } from "./driver.ts";
import { isBusy } from "./group-commit.ts";

const batchReadsMax = 256;
const waitingReadsMax = 20_000;
const retryAfterSeconds = 2;

interface Prepared {
  readonly onWriter: PreparedStatement<unknown[]>;
  readonly onReader: PreparedStatement<unknown[]>;
}

/** @param together inside the shared read transaction. */
type WaitingRead = (together: boolean) => void;

/**
 * Reads of one row for the hot path. They run on the writer's connection, whose cache survives its own commits; the reader's
 * cache is empty after each commit. Write batches are synchronous, so between them the writer also sees only what is
 * committed, durable or not. Reads that arrive in one turn of the event loop share a read transaction, which saves each its
 * locks.
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

  /** @throws AppError unavailable when too many are waiting. */
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

  /** Answers the waiting reads. */
  close(): void {
    while (this.#waiting.length > 0) this.#run();
  }

  #prepare(statement: { readonly sqlite: string }): Prepared {
    const known = this.#prepared.get(statement);
    if (known !== undefined) return known;
    const { sqlite } = statement;
    const prepared = {
      onWriter: this.#writer.prepare<unknown[]>(sqlite),
      onReader: this.#reader.prepare<unknown[]>(sqlite),
    };
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
    // Reading in an open transaction of the writer could show uncommitted changes.
    const together = !this.#writer.inTransaction;
    if (together) this.#begin.run();
    for (const read of batch) read(together);
    // A failing disk may have ended the transaction.
    if (together && this.#writer.inTransaction) this.#end.run();
  }
}

function read({ onWriter, onReader }: Prepared, parameters: readonly Value[], together: boolean): unknown {
  if (!together) return onReader.get(...parameters);
  try {
    return onWriter.get(...parameters);
  } catch (error) {
    // The writer never waits for locks, so its reads fail too while another process recovers the log. The reader waits.
    if (!isBusy(error)) throw error;
    return onReader.get(...parameters);
  }
}
