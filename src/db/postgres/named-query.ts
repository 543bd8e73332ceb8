import type { Connection, FieldDef, Submittable } from "pg";
import type { Value } from "../statement.ts";
import { readerOf } from "./column-types.ts";
import { firstRunMessages, runMessages } from "./wire-messages.ts";

/** A statement as this connection's server keeps it. */
export interface NamedStatement {
  readonly postgres: string;
  readonly name: string;
}

export interface QueryDone {
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
 * One run of a named statement, in the place of the driver's own query. Statements name their columns, so what comes back
 * has the same shape each time: the server is asked for it once per connection, which spares both sides a third of
 * their work on a row of many columns; and a run is one write to the socket.
 *
 * The driver calls what it asks of any query: `submit`, the handlers, and `callback`, which it puts its time limit around.
 */
export class NamedQuery implements Submittable {
  readonly done: Promise<QueryDone>;
  callback: (error: Error | null, done?: QueryDone) => void;
  readonly #statement: NamedStatement;
  readonly #values: readonly Value[];
  readonly #rows: unknown[] = [];
  #columns: readonly Column[] | undefined;
  #rowCount = 0;
  #onDescribed: (columns: readonly Column[]) => void = () => undefined;

  constructor(statement: NamedStatement, values: readonly Value[]) {
    const { promise, resolve, reject } = Promise.withResolvers<QueryDone>();
    this.#statement = statement;
    this.#values = values;
    this.done = promise;
    this.callback = (error, done) => {
      if (done === undefined) reject(error);
      else resolve(done);
    };
  }

  submit(connection: Connection): void {
    const { name, postgres } = this.#statement;
    const known = knownTo(connection);
    this.#columns = known.get(name);
    const isKnown = this.#columns !== undefined;
    if (!isKnown) this.#onDescribed = (columns) => known.set(name, columns);
    const messages = isKnown ? runMessages(name, this.#values) : firstRunMessages(name, postgres, this.#values);
    // A socket that takes no more tells so by its own event.
    if (connection.stream.writable) connection.stream.write(messages);
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [at, { name, read }] of (this.#columns ?? []).entries()) {
      const text = fields[at] ?? null;
      row[name] = text === null ? null : read(text);
    }
    this.#rows.push(row);
  }

  /** @param complete e.g. "UPDATE 1", "INSERT 0 1", "SELECT 3". */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rowCount = Number(text.slice(text.lastIndexOf(" ") + 1));
  }

  handleReadyForQuery(): void {
    this.#onDescribed(this.#columns ?? []);
    this.callback(null, { rows: this.#rows, rowCount: this.#rowCount });
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

function knownTo(connection: Connection): Map<string, readonly Column[]> {
  const known = described.get(connection) ?? new Map<string, readonly Column[]>();
  described.set(connection, known);
  return known;
}
