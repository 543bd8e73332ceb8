import SqliteDriver from "better-sqlite3";
import { NewerSchemaError, type ReadOnlyDatabase } from "./database.ts";
import { foreignDatabase, tableOfOthers } from "./foreign-database.ts";
import { migrations } from "./migrations.ts";
import { SqliteStatements } from "./sqlite-statements.ts";

const lockWaitMs = 15_000;

export function openReadOnlySqlite(path: string): ReadOnlyDatabase | "missing" | "older" {
  const connection = new SqliteDriver(path, { readonly: true, fileMustExist: true, timeout: lockWaitMs });
  try {
    const version = Number(connection.pragma("user_version", { simple: true }));
    if (version > migrations.length) {
      throw new NewerSchemaError(
        `The database has schema version ${version}, this program knows ${migrations.length}: use a newer version.`,
      );
    }
    if (version < migrations.length) {
      const found = connection.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
      if (found.get(tableOfOthers) !== undefined) throw new Error(foreignDatabase);
      connection.close();
      return version === 0 ? "missing" : "older";
    }
  } catch (error) {
    connection.close();
    throw error;
  }
  return { read: new SqliteStatements(connection), close: async () => void connection.close() };
}
