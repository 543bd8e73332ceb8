import { SqliteError, type Statement } from "better-sqlite3";
import { type Cell, type SourceDialect, SourceReadError, type SourceRecord, type SourceRows } from "./source-rows.ts";
import { openSqliteCopy, type SqliteLocation } from "./sqlite-copy.ts";

const dialect: SourceDialect = {
  engine: "SQLite",
  quoted: (name) => `"${name}"`,
  asText: (expression) => expression,
};

const statementsMax = 100;
/** Errors of a damaged page. Other pages can still be read. */
const damageCodes = /^SQLITE_(CORRUPT|IOERR|TOOBIG)/;

/** Reads a copy that is unlinked at once. @throws SourceError if it cannot be created or opened. */
export async function openSqliteRows(location: SqliteLocation): Promise<SourceRows> {
  const connection = await openSqliteCopy(location);
  const prepared = new Map<string, Statement<unknown[], Record<string, unknown>>>();
  const statementOf = (text: string) => {
    const known = prepared.get(text) ?? connection.prepare<unknown[], Record<string, unknown>>(text);
    // Lists of ids have many lengths. Frequent statements are soon prepared again.
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

/** The source stores some texts as blobs, such as password hashes. */
function cellOf(value: unknown): Cell {
  if (typeof value === "string" || typeof value === "number" || value === null) return value;
  return Buffer.isBuffer(value) ? value.toString("utf8") : String(value);
}
