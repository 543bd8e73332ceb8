import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import { readOrMakeMasterKeyFile } from "../config/master-key-file.ts";
import { refuseForeignFile } from "../database/open-database.ts";
import { CommandRefused } from "./errors.ts";

export interface MasterKeys {
  /** 32 bytes each, the active one first. */
  readonly keys: readonly Buffer[];
  /** undefined: given by settings. */
  readonly file: string | undefined;
  readonly warnings: readonly string[];
}

/** The keys that the server would start with; makes none. undefined: there are none. */
export function findMasterKeys(config: Config, random: Random): MasterKeys | undefined {
  if (config.masterKeys.length > 0) return { keys: config.masterKeys, file: undefined, warnings: [] };
  const file = join(config.dataDir, "master.key");
  if (!existsSync(file)) return undefined;
  const { key, warnings } = readOrMakeMasterKeyFile(config.dataDir, random);
  return { keys: [key], file, warnings };
}

/** @throws CommandRefused when there are none, Error for the operator when the database could not have any. */
export function getMasterKeys(config: Config, random: Random): MasterKeys {
  const found = findMasterKeys(config, random);
  if (found !== undefined) return found;
  refuseForeignFile(config.database);
  const file = join(config.dataDir, "master.key");
  throw new CommandRefused(`None is given and ${file} is not there: set PWPUSH_MASTER_KEY or restore the file.`);
}
