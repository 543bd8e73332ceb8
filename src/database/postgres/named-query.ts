import pg, { type Connection, type FieldDef, type Submittable } from "pg";
import type { Value } from "../statement.ts";
import { firstRunMessages, runMessages, syncMessage } from "./wire-messages.ts";

export interface NamedRun {
  readonly statement: { readonly postgres: string; readonly name: string };
  readonly values: readonly Value[];
}

export interface RunDone {
  readonly rows: readonly unknown[];
  /** Number of rows written or read. */
  readonly rowCount: number;
}

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

interface Result {
  readonly columns: readonly Column[];
  /** A row of nulls. Its copies have all properties from the start: adding them one by one costs several times the memory. */
  readonly empty: Readonly<Record<string, unknown>>;
}

const noColumns: Result = { columns: [], empty: {} };

/** The results of the statements prepared on each connection, by statement name. */
const described = new WeakMap<Connection, Map<string, Result>>();

/**
 * Runs named statements; replaces the driver's own query. Statements name their columns, so each result has the same shape
 * every time: the server describes it once per connection, which saves both sides a third of their work on a row of many
 * columns. All messages are one write to the socket.
 *
 * Several runs are one transaction (PostgreSQL's manual, "Pipelining"): if one fails, none is executed.
 *
 * The driver calls the methods that it needs of any query: `submit`, the handlers, and `callback`, which carries its timeout.
 */
export class NamedQuery implements Submittable {
  /** Results in the order of the runs. */
  readonly done: Promise<readonly RunDone[]>;
  callback: (error: Error | null, done?: readonly RunDone[]) => void;
  readonly #runs: readonly NamedRun[];
  readonly #done: RunDone[] = [];
  #known = new Map<string, Result>();
  #rows: unknown[] = [];
  /** Statements described in this query. The connection knows them once the whole query has succeeded. */
  readonly #described = new Map<string, Result>();

  constructor(runs: readonly NamedRun[]) {
    const { promise, resolve, reject } = Promise.withResolvers<readonly RunDone[]>();
    this.#runs = runs;
    this.done = promise;
    this.callback = (error, done) => {
      if (done === undefined) reject(error);
      else resolve(done);
    };
  }

  submit(connection: Connection): void {
    this.#known = knownTo(connection);
    const messages = this.#runs.map(({ statement, values }) =>
      this.#known.has(statement.name)
        ? runMessages(statement.name, values)
        : firstRunMessages(statement.name, statement.postgres, values),
    );
    // The socket's own event reports that it is closed.
    if (connection.stream.writable) connection.stream.write(Buffer.concat([...messages, syncMessage]));
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }));
    const empty = Object.fromEntries(columns.map(({ name }) => [name, null]));
    this.#described.set(this.#running(), { columns, empty });
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const name = this.#running();
    const result = this.#known.get(name) ?? this.#described.get(name) ?? noColumns;
    const row = { ...result.empty };
    result.columns.forEach(({ name, read }, at) => {
      const text = fields[at] ?? null;
      if (text !== null) row[name] = read(text);
    });
    this.#rows.push(row);
  }

  /** @param complete e.g. "UPDATE 1", "INSERT 0 1", "SELECT 3". */
  handleCommandComplete({ text }: { readonly text: string }): void {
    const name = this.#running();
    // A statement that returns no rows is not described.
    if (!this.#known.has(name) && !this.#described.has(name)) this.#described.set(name, noColumns);
    this.#done.push({ rows: this.#rows, rowCount: Number(text.slice(text.lastIndexOf(" ") + 1)) });
    this.#rows = [];
  }

  handleReadyForQuery(): void {
    for (const [name, columns] of this.#described) this.#known.set(name, columns);
    this.callback(null, this.#done);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  /** The name of the statement whose result arrives now. */
  #running(): string {
    return this.#runs[this.#done.length]?.statement.name ?? "";
  }
}

function knownTo(connection: Connection): Map<string, Result> {
  const known = described.get(connection) ?? new Map<string, Result>();
  described.set(connection, known);
  return known;
}

/** `bigint` and `numeric`: all stored values are integers far below 2^53. */
const numberTypes: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];

/** The function that parses the text of a column. @param type object id of its type. */
export function readerOf(type: number, format?: "text" | "binary"): (text: string) => unknown {
  return numberTypes.includes(type) ? Number : pg.types.getTypeParser(type, format);
}
