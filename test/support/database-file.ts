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
