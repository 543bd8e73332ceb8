import { existsSync } from "node:fs";
import type { DatabaseSettings } from "../config/config.ts";
import type { Look } from "./database.ts";
import { refuseForeignFile } from "./foreign-database.ts";

/**
 * @returns "missing": no server has made it yet. "older": its schema is of an older program, and tables of this one's may
 * be missing. @throws NewerSchemaError, an Error with a sentence for the operator, or the driver's.
 */
export async function lookAtDatabase(settings: DatabaseSettings): Promise<Look | "missing" | "older"> {
  if (settings.engine === "sqlite") {
    if (!existsSync(settings.path)) return "missing";
    refuseForeignFile(settings);
    const { lookAtSqlite } = await import("./look-sqlite.ts");
    return lookAtSqlite(settings.path);
  }
  const { lookAtPostgres } = await import("./postgres/look.ts");
  return await lookAtPostgres(settings);
}
