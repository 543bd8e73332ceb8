import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { reasonOrThrow } from "../../base/system-error.ts";
import { syncFolder } from "../../config/data-folder.ts";
import { parseSourceAddress, printable } from "../import/database-address.ts";
import type { SourceArguments } from "../import/open-source.ts";

/** The old database is never written. A file beside it says to later containers that its data were moved. */
function markPath(database: string): string {
  return `${database}.moved-to-sealpush.txt`;
}

/** @returns the path of the mark beside a SQLite file; undefined: there is none. */
export function sourceMarkOf({ database }: SourceArguments): string | undefined {
  const address = parseSourceAddress(database);
  const path = address.engine === "sqlite" ? markPath(address.path) : undefined;
  return path !== undefined && existsSync(path) ? path : undefined;
}

/**
 * Durably.
 * @param to the new database, without its password. @param now milliseconds since the epoch.
 * @returns a sentence for the operator if there is no mark.
 */
export function markSource(source: SourceArguments, to: string, dataDir: string, now: number): string | undefined {
  const address = parseSourceAddress(source.database);
  const unmarked = (reason: string) =>
    `Nothing beside the old database (${printable(address)}) says that its data were moved to ${to}, because ${reason}. Keep ${dataDir}: with ` +
    "another data folder, SEALPUSH_MOVE_IN=yes would import everything again, and links that have been used up since would open.";
  if (address.engine !== "sqlite") return unmarked("it is on a server and only read");
  if (!existsSync(address.path) || sourceMarkOf(source) !== undefined) return undefined;
  const path = markPath(address.path);
  const text = [
    `The data of this Password Pusher were moved to Sealpush on ${new Date(now).toISOString()}.`,
    "",
    `Database: ${to}`,
    `Data folder: ${dataDir}`,
    "",
    "Sealpush counts the views now. Serving or importing this database again would open links that have been used up since.",
  ];
  try {
    writeFileSync(path, `${text.join("\n")}\n`, { flag: "wx", flush: true });
    syncFolder(dirname(path));
    return undefined;
  } catch (error) {
    return unmarked(`${path} cannot be written (${reasonOrThrow(error)})`);
  }
}
