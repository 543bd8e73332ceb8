import type { ReadOnlyDatabase } from "../database.ts";
import type { SchemaVersion } from "../schema/both-engines.ts";
import { SqliteDriver } from "./driver.ts";
import { readSchemaVersion } from "./migrate.ts";
import { nameFile } from "./name-file.ts";
import { SqliteStatements } from "./statements.ts";

const lockWaitMs = 15_000;

type Opened = ReadOnlyDatabase | "missing" | "older";

export function openReadOnlySqlite(path: string, versions: readonly SchemaVersion[]): Opened {
  return nameFile(path, () => open(path, versions));
}

function open(path: string, versions: readonly SchemaVersion[]): Opened {
  const connection = new SqliteDriver(path, { readonly: true, fileMustExist: true, timeout: lockWaitMs });
  try {
    const version = readSchemaVersion(connection, versions.length);
    if (version < versions.length) {
      connection.close();
      return version === 0 ? "missing" : "older";
    }
  } catch (error) {
    connection.close();
    throw error;
  }
  return { read: new SqliteStatements(connection), close: async () => void connection.close() };
}
