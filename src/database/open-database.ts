import type { DatabaseSettings } from "../config/config.ts";
import type { Database } from "./database.ts";
import { refuseForeignFile } from "./foreign-database.ts";
import type { SchemaVersion } from "./schema/both-engines.ts";
import { openSqlite } from "./sqlite.ts";

export interface DatabaseEffects {
  /** Milliseconds that never jump; only differences mean something. */
  readonly monotonicMs: () => number;
  /** `code`: the driver's, or the system's. */
  readonly onStorageFailure: (code: string) => void;
  readonly onTruncationFailed: (error: unknown) => void;
  /** Of the schema. Not given: those of this program. */
  readonly versions?: readonly SchemaVersion[];
}

export interface AwaitEffects {
  readonly monotonicMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Told once, when the first try has failed. @param sentence what is the matter, for the operator. */
  readonly onWaiting: (sentence: string) => void;
  /** Aborted: nobody wants it any more. */
  readonly abandoned: AbortSignal | undefined;
}

/**
 * Waits for a server that is not there yet, for half a minute at most; what is the matter then is for the opening to tell.
 * @throws the reason when it is abandoned.
 */
export async function awaitDatabase(settings: DatabaseSettings, effects: AwaitEffects): Promise<void> {
  if (settings.engine === "sqlite") return;
  const { awaitServer } = await import("./postgres/await-server.ts");
  await awaitServer(settings, effects);
}

/**
 * Opens the database that the settings name, made or brought up to date where that is needed.
 * @throws NewerSchemaError, an Error with a sentence for the operator, or the driver's.
 */
export async function openDatabase(settings: DatabaseSettings, effects: DatabaseEffects): Promise<Database> {
  refuseForeignFile(settings);
  if (settings.engine === "sqlite") return openSqlite({ path: settings.path, ...effects });
  // Loaded where it is set: a server on SQLite goes without the driver's memory.
  const { openPostgres } = await import("./postgres/postgres.ts");
  return await openPostgres({ settings, ...effects });
}
