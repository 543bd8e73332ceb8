import pg, { type Connection, type FieldDef, type Submittable } from "pg";
import type { Value } from "../statement.ts";
import { firstRunMessages, runMessages, syncMessage } from "./wire-messages.ts";

/** One run of a statement that the server keeps under its name. */
export interface NamedRun {
  readonly statement: { readonly postgres: string; readonly name: string };
  readonly values: readonly Value[];
}

export interface RunDone {
  readonly rows: readonly unknown[];
  /** Written, or read. */
  readonly rowCount: number;
}

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/** What each connection's server has said of the statements it keeps, by their names. */
const described = new WeakMap<Connection, Map<string, readonly Column[]>>();

/**
 * Runs of named statements, in the place of the driver's own query. Statements name their columns, so what comes back has
 * the same shape each time: the server is asked for it once per connection, which spares both sides a third of
 * their work on a row of many columns; and all is one write to the socket.
 *
 * Several runs are one transaction (PostgreSQL's manual, "Pipelining"), and none is done when one of them fails.
 *
 * The driver calls what it asks of any query: `submit`, the handlers, and `callback`, which it puts its time limit around.
 */
export class NamedQuery implements Submittable {
  /** In the order of the runs. */
  readonly done: Promise<readonly RunDone[]>;
  callback: (error: Error | null, done?: readonly RunDone[]) => void;
  readonly #runs: readonly NamedRun[];
  readonly #done: RunDone[] = [];
  #known = new Map<string, readonly Column[]>();
  #rows: unknown[] = [];
  /** Of the statements that were described in this query: known to the connection only once all is done. */
  readonly #described = new Map<string, readonly Column[]>();

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
    // A socket that takes no more tells so by its own event.
    if (connection.stream.writable) connection.stream.write(Buffer.concat([...messages, syncMessage]));
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }));
    this.#described.set(this.#running(), columns);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const name = this.#running();
    const columns = this.#known.get(name) ?? this.#described.get(name) ?? [];
    const row: Record<string, unknown> = {};
    for (const [at, { name, read }] of columns.entries()) {
      const text = fields[at] ?? null;
      row[name] = text === null ? null : read(text);
    }
    this.#rows.push(row);
  }

  /** @param complete e.g. "UPDATE 1", "INSERT 0 1", "SELECT 3". */
  handleCommandComplete({ text }: { readonly text: string }): void {
    const name = this.#running();
    // A statement that returns no rows is not described.
    if (!this.#known.has(name) && !this.#described.has(name)) this.#described.set(name, []);
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

  /** The name of the statement whose answer comes now. */
  #running(): string {
    return this.#runs[this.#done.length]?.statement.name ?? "";
  }
}

function knownTo(connection: Connection): Map<string, readonly Column[]> {
  const known = described.get(connection) ?? new Map<string, readonly Column[]>();
  described.set(connection, known);
  return known;
}

/** `bigint` and `numeric`: all of ours are whole numbers far below 2^53. */
const numberTypes: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];

/** What makes a value of a column's text. @param type its object id, as the server describes it. */
export function readerOf(type: number, format?: "text" | "binary"): (text: string) => unknown {
  return numberTypes.includes(type) ? Number : pg.types.getTypeParser(type, format);
}
