import { SourceError } from "../source.ts";

/** A value of a column: numbers and texts as the engine returns them, bytes decoded as UTF-8. `cells.ts` reads them. */
export type Cell = string | number | null;
export type SourceRecord = Readonly<Record<string, Cell>>;

/**
 * The source's database, read in one snapshot and never written. The dialects of the three engines differ in quoted names, and in
 * how a value is read before the driver converts times and large numbers.
 */
export interface SourceRows {
  /** The names of the columns; empty if the table does not exist. */
  columns(table: string): Promise<ReadonlySet<string>>;
  /**
   * @param statement with `?` for each parameter, and nowhere else.
   * @throws SourceReadError if these rows cannot be read but others may be. Any other error ends the import.
   */
  all(statement: string, parameters?: readonly (string | number)[]): Promise<readonly SourceRecord[]>;
  readonly dialect: SourceDialect;
  close(): Promise<void>;
}

export interface SourceDialect {
  readonly engine: "SQLite" | "PostgreSQL" | "MySQL";
  quoted(name: string): string;
  /** A value as the engine's own text, if its driver would convert it. */
  asText(expression: string): string;
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

/** Runs tasks one after another, in the order of the calls. A task that fails does not stop later ones. */
export function oneAtATime(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = last.then(task);
    last = run.catch(() => undefined);
    return run;
  };
}
