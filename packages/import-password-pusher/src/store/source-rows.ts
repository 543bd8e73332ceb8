import { SourceError } from "../../../../src/import/source.ts";

/** What a column holds: numbers and texts as the engine gives them, bytes decoded as UTF-8. Read it by `cells.ts`. */
export type Cell = string | number | null;
export type SourceRecord = Readonly<Record<string, Cell>>;

/**
 * The other installation's database, read in one snapshot and never written. The three engines differ in how names are
 * quoted and in how a value is read without a driver's idea of time zones and of large numbers.
 */
export interface SourceRows {
  /** Names of the columns; empty when there is no such table. */
  columns(table: string): Promise<ReadonlySet<string>>;
  /**
   * @param statement with `?` for each parameter, and for nothing else.
   * @throws SourceReadError when these rows cannot be read and others may be; any other error ends the reading.
   */
  all(statement: string, parameters?: readonly (string | number)[]): Promise<readonly SourceRecord[]>;
  readonly dialect: SourceDialect;
  close(): Promise<void>;
}

export interface SourceDialect {
  readonly engine: "SQLite" | "PostgreSQL" | "MySQL";
  quoted(name: string): string;
  /** A value in the engine's own plain text, if its driver would make something else of it. */
  asText(expression: string): string;
}

/** The database refuses to give some rows: damaged, or in an encoding that is none. */
export class SourceReadError extends SourceError {
  /** SQLSTATE, or SQLite's name of the error. */
  readonly damage: string;

  constructor(damage: string, cause: unknown) {
    super(`The source database cannot read a part of itself (${damage}): mend a copy of it, and bring in that.`, {
      cause,
    });
    this.damage = damage;
  }
}
