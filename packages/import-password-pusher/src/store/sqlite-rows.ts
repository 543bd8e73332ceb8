import type { SqliteConnection } from "../installation.ts";
import { codeOf, createSourceRows, SourceReadError, type SourceRows } from "./source-rows.ts";

/** Errors of a damaged page. Other pages can still be read. */
const damageCodes = /^SQLITE_(CORRUPT|IOERR|TOOBIG)/;

export function openSqliteRows(connection: SqliteConnection): SourceRows {
  return createSourceRows({
    columnsQuery: "SELECT name FROM pragma_table_info(?)",
    query: (statement, parameters) => connection.prepare(statement).all(...parameters),
    explain(error) {
      const code = codeOf(error) ?? "";
      return damageCodes.test(code) ? new SourceReadError(code, error) : error;
    },
    close: () => connection.close(),
  });
}
