import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

export function databaseFile(dataDir: string): string {
  return join(dataDir, "sealpush.sqlite3");
}

/** SQLite's own check of every page and index: `["ok"]` when nothing is wrong. */
export function integrityOf(dataDir: string): readonly unknown[] {
  const db = new Database(databaseFile(dataDir), { readonly: true });
  try {
    return db.prepare("PRAGMA integrity_check").pluck().all();
  } finally {
    db.close();
  }
}

/** The content of every file in a folder, by its relative path. */
export function filesIn(folder: string): ReadonlyMap<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  return new Map(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path)]));
}
