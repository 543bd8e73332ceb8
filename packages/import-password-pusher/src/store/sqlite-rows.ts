import type { SqliteConnection } from "../installation.ts";
import { sqliteCode } from "../system-error.ts";
import { type Cell, type SourceDialect, SourceReadError, type SourceRecord, type SourceRows } from "./source-rows.ts";

const dialect: SourceDialect = {
  engine: "SQLite",
  quoted: (name) => `"${name}"`,
  asText: (expression) => expression,
};

const statementsMax = 100;
/** Errors of a damaged page. Other pages can still be read. */
const damageCodes = /^SQLITE_(CORRUPT|IOERR|TOOBIG)/;

export function openSqliteRows(connection: SqliteConnection): SourceRows {
  const prepared = new Map<string, ReturnType<SqliteConnection["prepare"]>>();
  const statementOf = (text: string) => {
    const known = prepared.get(text) ?? connection.prepare(text);
    // Lists of ids have many lengths. Frequent statements are soon prepared again.
    if (prepared.size === statementsMax) prepared.clear();
    prepared.set(text, known);
    return known;
  };
  return {
    dialect,
    async columns(table) {
      const rows = connection.prepare("SELECT name FROM pragma_table_info(?)").all(table);
      return new Set(rows.map((row) => String(Reflect.get(Object(row), "name"))));
    },
    async all(statement, parameters = []) {
      try {
        return statementOf(statement)
          .all(...parameters)
          .map((row) => recordOf(row));
      } catch (error) {
        const code = sqliteCode(error);
        if (code !== undefined && damageCodes.test(code)) throw new SourceReadError(code, error);
        throw error;
      }
    },
    async close() {
      connection.close();
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
