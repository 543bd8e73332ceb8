import { existsSync } from "node:fs";
import type { DatabaseSettings } from "../config/config.ts";
import type { ReadOnlyDatabase } from "./database.ts";
import { refuseForeignFile } from "./foreign-database.ts";
import type { SchemaVersion } from "./schema/both-engines.ts";
import { schemaVersions } from "./schema/versions.ts";

/**
 * @returns "missing": no server has made it yet. "older": its schema is of an older program, and tables of this one's may
 * be missing. @throws NewerSchemaError, an Error with a sentence for the operator, or the driver's.
 */
export async function openReadOnly(
  settings: DatabaseSettings,
  versions: readonly SchemaVersion[] = schemaVersions,
): Promise<ReadOnlyDatabase | "missing" | "older"> {
  if (settings.engine === "sqlite") {
    if (!existsSync(settings.path)) return "missing";
    refuseForeignFile(settings);
    const { openReadOnlySqlite } = await import("./read-only-sqlite.ts");
    return openReadOnlySqlite(settings.path, versions);
  }
  const { openReadOnlyPostgres } = await import("./postgres/read-only.ts");
  return await openReadOnlyPostgres(settings, versions);
}
