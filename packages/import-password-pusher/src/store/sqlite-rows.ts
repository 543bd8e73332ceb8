import { SqliteError, type Statement } from "better-sqlite3";
import { type Cell, type SourceDialect, SourceReadError, type SourceRecord, type SourceRows } from "./source-rows.ts";
import { openSqliteCopy, type SqlitePlace } from "./sqlite-copy.ts";

const dialect: SourceDialect = {
  engine: "SQLite",
  quoted: (name) => `"${name}"`,
  asText: (expression) => expression,
};

const statementsMax = 100;
/** Of a page that is damaged: other pages can still be read. */
const damageCodes = /^SQLITE_(CORRUPT|IOERR|TOOBIG)/;

/** On a copy, of which nothing is left behind. @throws SourceError when it cannot be made or opened. */
export function openSqliteRows(place: SqlitePlace): SourceRows {
  const connection = openSqliteCopy(place);
  const prepared = new Map<string, Statement<unknown[], Record<string, unknown>>>();
  const statementOf = (text: string) => {
    const known = prepared.get(text) ?? connection.prepare<unknown[], Record<string, unknown>>(text);
    // Lists of ids have many lengths; what is asked for most is soon back.
    if (prepared.size === statementsMax) prepared.clear();
    prepared.set(text, known);
    return known;
  };
  return {
    dialect,
    async columns(table) {
      const rows = connection.prepare<[string], { name: string }>("SELECT name FROM pragma_table_info(?)").all(table);
      return new Set(rows.map(({ name }) => name));
    },
    async all(statement, parameters = []) {
      try {
        return statementOf(statement)
          .all(...parameters)
          .map(recordOf);
      } catch (error) {
        if (error instanceof SqliteError && damageCodes.test(error.code)) throw new SourceReadError(error.code, error);
        throw error;
      }
    },
    async close() {
      connection.close();
    },
  };
}

function recordOf(row: Record<string, unknown>): SourceRecord {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(value)]));
}

/** Texts that came as bytes from the application, such as hashes of passwords, are stored as blobs. */
function cellOf(value: unknown): Cell {
  if (typeof value === "string" || typeof value === "number" || value === null) return value;
  return Buffer.isBuffer(value) ? value.toString("utf8") : String(value);
}
