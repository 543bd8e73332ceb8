import type { Config } from "../config/config.ts";
import { refuseForeignFile } from "../database/open-database.ts";
import { CommandRefused } from "./errors.ts";

/**
 * Path of the embedded database. @throws CommandRefused where the settings name a server: its own tools copy it; Error for
 * the operator where they name another program's.
 */
export function getEmbeddedDatabase({ database }: Config): string {
  refuseForeignFile(database);
  if (database.engine === "sqlite") return database.path;
  throw new CommandRefused(
    "This command is for the embedded database, and DATABASE_URL names a PostgreSQL server: back that up with pg_dump, " +
      'or with base backups and archived logs, as "Backup and restore" in docs/operations.md says.',
  );
}
