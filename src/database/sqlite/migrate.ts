import { ForeignDatabaseError, foreignTable, NewerSchemaError } from "../database.ts";
import type { SchemaVersion } from "../schema/both-engines.ts";
import type { Connection } from "./driver.ts";

/**
 * Brings the schema up to date under the write lock, so that processes that start together migrate once.
 * @throws NewerSchemaError, an Error with a sentence for the operator, or the driver's errors.
 */
export function migrate(writer: Connection, versions: readonly SchemaVersion[]): void {
  writer
    .transaction(() => {
      const version = readSchemaVersion(writer, versions.length);
      // Setting the same version again would change the file, even if the start is refused afterwards.
      if (version === versions.length) return;
      for (const { sqlite } of versions.slice(version)) writer.exec(sqlite);
      writer.pragma(`user_version = ${versions.length}`);
    })
    .immediate();
}

/**
 * @param newest the newest version that this program knows.
 * @returns 0: a new database.
 * @throws NewerSchemaError, or an Error with a sentence for the operator when the database belongs to another program.
 */
export function readSchemaVersion(connection: Connection, newest: number): number {
  const version = Number(connection.pragma("user_version", { simple: true }));
  if (version > newest) throw new NewerSchemaError(version, newest);
  if (version < newest && hasTable(connection, foreignTable)) throw new ForeignDatabaseError();
  return version;
}

function hasTable(connection: Connection, name: string): boolean {
  return connection.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
}
