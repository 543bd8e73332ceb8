import type { ReadConnection, Transaction } from "../../database/database.ts";
import { moveMarkNames } from "../../database/move-marks.ts";
import { type Statement, sql, type Value } from "../../database/statement.ts";
import type { MovedTable } from "./tables.ts";

export type Row = Readonly<Record<string, Value>>;

/** How rows are read in the order of their key, and written on the other side. */
export interface RowMover {
  readonly name: string;
  /** The next rows after that key, or the first. */
  read(reading: ReadConnection, after: readonly Value[] | undefined, limit: number): Promise<readonly Row[]>;
  keyOf(row: Row): readonly Value[];
  write(tx: Transaction, rows: readonly Row[]): Promise<void>;
  /** In the order in which a digest takes them. */
  readonly columns: readonly string[];
}

/** Rows of one statement: a round trip for each would take most of the time of a move. */
const rowsTogether = 100;

/** @param source a table, or what stands for one in a FROM. */
export function readerOf(columns: readonly string[], source: string, key: readonly string[]): RowMover["read"] {
  const select = `SELECT ${columns.join(", ")} FROM ${source}`;
  const order = `ORDER BY ${key.join(", ")} LIMIT ?`;
  const first = sql<Value[], Row>(`${select} ${order}`);
  const next = sql<Value[], Row>(`${select} WHERE (${key.join(", ")}) > (${key.map(() => "?").join(", ")}) ${order}`);
  return (reading, after, limit) =>
    after === undefined ? reading.all(first, limit) : reading.all(next, ...after, limit);
}

export function writerOf(table: string, columns: readonly string[]): RowMover["write"] {
  const values = `(${columns.map(() => "?").join(", ")})`;
  const insert = (count: number): Statement<Value[], never> =>
    sql(`INSERT INTO ${table} (${columns.join(", ")}) VALUES ${Array(count).fill(values).join(", ")}`);
  const [one, many] = [insert(1), insert(rowsTogether)];
  return async (tx, rows) => {
    const valuesOf = (row: Row) => columns.map((column) => row[column] ?? null);
    let at = 0;
    for (; at + rowsTogether <= rows.length; at += rowsTogether) {
      await tx.run(many, ...rows.slice(at, at + rowsTogether).flatMap(valuesOf));
    }
    for (const row of rows.slice(at)) await tx.run(one, ...valuesOf(row));
  };
}

/** A table that both sides hold alike. */
export function createTableMover({ name, columns, key }: MovedTable): RowMover {
  const marks = moveMarkNames.map((mark) => `'${mark}'`).join(", ");
  // A move's own marks belong to one side.
  const source = name === "meta" ? `(SELECT * FROM meta WHERE name NOT IN (${marks})) AS meta` : name;
  return {
    ...{ name, columns },
    read: readerOf(columns, source, key),
    keyOf: (row) => key.map((column) => row[column] ?? null),
    write: writerOf(name, columns),
  };
}
