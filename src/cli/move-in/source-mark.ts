import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../../config/data-folder.ts";
import { systemErrorCode } from "../../config/system-error.ts";
import { parseSourceAddress } from "../import/database-address.ts";
import type { SourceArguments } from "../import/open-source.ts";

/** The old database is never written. A file beside it says to later containers that its data were moved. */
function markPath(database: string): string {
  return `${database}.moved-to-sealpush.txt`;
}

/** @param database the path of a SQLite file. @returns the path of the mark; undefined: there is none. */
function findSourceMark(database: string): string | undefined {
  const path = markPath(database);
  return existsSync(path) ? path : undefined;
}

export function sourceMarkOf({ database }: SourceArguments): string | undefined {
  const address = parseSourceAddress(database);
  return address.engine === "sqlite" ? findSourceMark(address.path) : undefined;
}

interface Move {
  /** The path of a SQLite file; undefined: a database on a server, beside which there is no file. */
  readonly file: string | undefined;
  /** The old and the new database, without passwords. */
  readonly from: string;
  readonly to: string;
  readonly dataDir: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Durably. @returns a sentence for the operator if there is no mark. */
export function markSource({ file, from, to, dataDir, now }: Move): string | undefined {
  const unmarked = (reason: string) =>
    `Nothing beside the old database (${from}) says that its data were moved to ${to}, because ${reason}. Keep ${dataDir}: with ` +
    "another data folder, SEALPUSH_MOVE_IN=yes would import everything again, and links that have been used up since would open.";
  if (file === undefined) return unmarked("it is on a server and only read");
  if (!existsSync(file) || findSourceMark(file) !== undefined) return undefined;
  const path = markPath(file);
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
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    return unmarked(`${path} cannot be written (${code})`);
  }
}
