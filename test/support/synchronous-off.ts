import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import Database from "better-sqlite3";

/**
 * Loaded before the server to disable its durability, for the proof that a missing sync is detected: the production code
 * has no such switch.
 */
const pragma = Database.prototype.pragma;
Database.prototype.pragma = function withoutSync(this: Database.Database, source: string, options) {
  return pragma.call(this, source === "synchronous = NORMAL" ? "synchronous = OFF" : source, options);
};
Object.assign(fs, { fdatasync: (_file: number, done: (error: null) => void) => setImmediate(done, null) });
syncBuiltinESMExports();
