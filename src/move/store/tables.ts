import type { Database } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

/** A table as both engines have it. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of its primary key, in their order. */
  readonly key: readonly string[];
}

/**
 * Not moved as they are: `pushes` and `data_keys` go together, `totals` are counted anew, and `processes` are those that
 * work on one database.
 */
const apart: ReadonlySet<string> = new Set(["pushes", "data_keys", "totals", "processes"]);

const tableNames = sql<[], { name: string }>(
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
);
const columnsOfTable = sql<[table: string], { name: string; place: number }>(
  "SELECT name, pk AS place FROM pragma_table_info(?) ORDER BY cid",
);

/**
 * Read from the schema itself, so that none can be forgotten. Other tables refer to users, which therefore come first.
 * @param sqlite the side that keeps its data in a file: its columns are those that both have.
 */
export async function readTables(sqlite: Database): Promise<readonly MovedTable[]> {
  const names = (await sqlite.read.all(tableNames)).map(({ name }) => name).filter((name) => !apart.has(name));
  const ordered = ["users", ...names.filter((name) => name !== "users")];
  return await Promise.all(ordered.map((name) => readTable(sqlite, name)));
}

export async function readTable(sqlite: Database, name: string): Promise<MovedTable> {
  const columns = await sqlite.read.all(columnsOfTable, name);
  const key = columns.filter(({ place }) => place > 0).sort((a, b) => a.place - b.place);
  return { name, columns: columns.map((column) => column.name), key: key.map((column) => column.name) };
}
