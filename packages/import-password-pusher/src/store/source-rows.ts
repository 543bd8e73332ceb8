import { SourceError } from "../source.ts";

/** A value of a column: numbers and texts as the engine returns them, bytes decoded as UTF-8. `cells.ts` reads them. */
export type Cell = string | number | null;
export type SourceRecord = Readonly<Record<string, Cell>>;

type Parameters = readonly (string | number)[];

/** What differs between the three engines. Their drivers return times and large numbers as the engine's own text. */
export interface SourceConnection {
  /** A query of the `name` of each column of a table. The table's name is its parameter. */
  readonly columnsQuery: string;
  /** @param statement with `?` for each parameter, and nowhere else. */
  query(statement: string, parameters: Parameters): unknown[] | Promise<unknown[]>;
  /** The error to throw for a failed query: a SourceReadError if other rows may be readable. Any other error ends the import. */
  explain(error: unknown): unknown;
  close(): unknown;
}

export type SourceRows = ReturnType<typeof createSourceRows>;

/** The source's database, read in one snapshot and never written. Statements run one after another, in the order of the calls. */
export function createSourceRows(connection: SourceConnection) {
  let last: Promise<unknown> = Promise.resolve();
  async function run(statement: string, parameters: Parameters): Promise<readonly SourceRecord[]> {
    try {
      return (await connection.query(statement, parameters)).map(recordOf);
    } catch (error) {
      throw await connection.explain(error);
    }
  }
  function all(statement: string, parameters: Parameters = []): Promise<readonly SourceRecord[]> {
    const result = last.then(() => run(statement, parameters));
    last = result.catch(() => undefined);
    return result;
  }
  return {
    all,
    /** The names of the columns; empty if the table does not exist. */
    async columns(table: string): Promise<ReadonlySet<string>> {
      return new Set((await all(connection.columnsQuery, [table])).map(({ name }) => String(name)));
    },
    async close() {
      await connection.close();
    },
  };
}

function recordOf(row: unknown): SourceRecord {
  return Object.fromEntries(Object.entries(Object(row)).map(([name, value]) => [name, cellOf(value)]));
}

/** The source stores some texts as blobs, such as password hashes. */
function cellOf(value: unknown): Cell {
  if (typeof value === "string" || typeof value === "number" || value === null) return value;
  return Buffer.isBuffer(value) ? value.toString("utf8") : String(value);
}

/** The database cannot return some rows: they are damaged, or their text is not valid in its encoding. */
export class SourceReadError extends SourceError {
  /** SQLSTATE, or SQLite's name of the error. */
  readonly damage: string;

  constructor(damage: string, cause: unknown) {
    super(`The source database is damaged (${damage}): repair a copy of it, and import the copy.`, {
      cause,
    });
    this.damage = damage;
  }
}

/** @param otherwise replaces rows that the database cannot read. Their damage is reported for each row later. */
export async function unlessDamaged<T>(
  reading: Promise<T>,
  otherwise: (error: SourceReadError) => T | Promise<T>,
): Promise<T> {
  return await reading.catch((error: unknown) => {
    if (error instanceof SourceReadError) return otherwise(error);
    throw error;
  });
}

export function unreadableServer(engine: "PostgreSQL" | "MySQL", server: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return new SourceError(
    `The ${engine} server at ${server} cannot be read (${codeOf(error) ?? "no answer"}): ${messageOf(error)}. Check --database.`,
    { cause: error },
  );
}

export function connectionLost(cause: unknown): SourceError {
  const code = codeOf(cause) ?? "CONNECTION_LOST";
  return new SourceError(`The connection to the source database was lost (${code}): run the import again.`, { cause });
}

/** The code of a driver's error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && error.code !== undefined ? String(error.code) : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ").trim().replace(/\.$/, "") : "no reason was given";
}
