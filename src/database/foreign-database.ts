import type { DatabaseSettings } from "../config/config.ts";
import { isOfAnotherProgram } from "./foreign-sqlite.ts";

/** Rails notes the versions of a schema in it, and so does every Password Pusher. No version of ours has a table so named. */
export const tableOfOthers = "schema_migrations";

export const foreignDatabase =
  "The database that DATABASE_URL names holds the tables of another program: give this server one of its own. What a " +
  "Password Pusher has comes along by `sealpush import password-pusher`.";

/**
 * Before a SQLite database is opened, and before its key is looked for: nothing is written, neither into the file nor beside
 * it. A server's database is asked when it is opened. @throws Error for the operator.
 */
export function refuseForeignFile(settings: DatabaseSettings): void {
  if (settings.engine === "sqlite" && isOfAnotherProgram(settings.path)) throw new Error(foreignDatabase);
}
