import { existsSync } from "node:fs";
import type { DatabaseSettings } from "../config/config.ts";
import { type Database, ForeignDatabaseError, type ReadOnlyDatabase } from "./database.ts";
import type { AwaitEffects } from "./postgres/server-start.ts";
import type { SchemaVersion } from "./schema/both-engines.ts";
import { schemaVersions } from "./schema/versions.ts";
import { isOfAnotherProgram } from "./sqlite/foreign-file.ts";
import { openSqlite } from "./sqlite/sqlite.ts";

// The modules for PostgreSQL are imported on demand: a server on SQLite does not load the driver.

export interface DatabaseEffects {
  /** Monotonic milliseconds; only differences are meaningful. */
  readonly monotonicMs: () => number;
  /** @param code from the driver or the operating system. */
  readonly onStorageFailure: (code: string) => void;
  /** SQLite's write-ahead log could not be truncated; truncation is retried. */
  readonly onTruncationFailed: (error: unknown) => void;
  /** Versions of the schema. Default: those of this program. */
  readonly versions?: readonly SchemaVersion[];
}

/**
 * Waits up to half a minute for a database server that is not available yet. `openDatabase` reports any remaining problem.
 * @throws the reason of `abandoned`.
 */
export async function awaitDatabase(settings: DatabaseSettings, effects: AwaitEffects): Promise<void> {
  switch (settings.engine) {
    case "sqlite":
      return;
    case "postgres": {
      const { awaitServer } = await import("./postgres/server-start.ts");
      return await awaitServer(settings, effects);
    }
    default:
      return settings satisfies never;
  }
}

/**
 * Opens the database, creates it if there is none, and brings its schema up to date.
 * @throws NewerSchemaError, ForeignDatabaseError, an Error with a sentence for the operator, or the driver's.
 */
export async function openDatabase(settings: DatabaseSettings, effects: DatabaseEffects): Promise<Database> {
  switch (settings.engine) {
    case "sqlite":
      refuseForeignFile(settings);
      return openSqlite({ path: settings.path, ...effects });
    case "postgres": {
      const { openPostgres } = await import("./postgres/postgres.ts");
      return await openPostgres({ settings, ...effects });
    }
    default:
      return settings satisfies never;
  }
}

/**
 * Opens the database without creating or changing anything.
 * @returns "missing": no server has created it yet. "older": its schema is of an older version and may lack tables.
 * @throws as `openDatabase`.
 */
export async function openReadOnly(
  settings: DatabaseSettings,
  versions: readonly SchemaVersion[] = schemaVersions,
): Promise<ReadOnlyDatabase | "missing" | "older"> {
  switch (settings.engine) {
    case "sqlite": {
      if (!existsSync(settings.path)) return "missing";
      refuseForeignFile(settings);
      const { openReadOnlySqlite } = await import("./sqlite/read-only.ts");
      return openReadOnlySqlite(settings.path, versions);
    }
    case "postgres": {
      const { openReadOnlyPostgres } = await import("./postgres/read-only.ts");
      return await openReadOnlyPostgres(settings, versions);
    }
    default:
      return settings satisfies never;
  }
}

/** @returns the path of an embedded database; undefined: the database is on a server. */
export function embeddedFileOf(settings: DatabaseSettings): string | undefined {
  switch (settings.engine) {
    case "sqlite":
      return settings.path;
    case "postgres":
      return undefined;
    default:
      return settings satisfies never;
  }
}

/**
 * Refuses a SQLite file with the tables of another program before the file is opened and before its key is read, so that
 * nothing is written to it or beside it. A database on a server is checked when it is opened.
 * @throws ForeignDatabaseError.
 */
export function refuseForeignFile(settings: DatabaseSettings): void {
  const path = embeddedFileOf(settings);
  if (path !== undefined && isOfAnotherProgram(path)) throw new ForeignDatabaseError();
}
