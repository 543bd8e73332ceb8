import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../base/random.ts";
import type { Config } from "../../config/config.ts";
import { readOrMakeMasterKeyFile } from "../../config/master-key-file.ts";
import { createKeyring, type Keyring } from "../../crypto/keyring.ts";
import type { Database } from "../../db/sqlite.ts";
import { keysInUse, openVault } from "../../pushes/vault.ts";
import { CommandRefused } from "../errors.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** Are there master keys, and are they nobody else's to read? Makes none. */
export function checkMasterKey(config: Config, random: Random): Finding[] {
  const { keys, file, warnings } = getMasterKeys(config, random);
  if (warnings.length > 0) return warnings.map((warning) => warn("master key", warning));
  const origin = file ?? `settings (${keys.length} given)`;
  return [ok("master key", `Read from ${origin}; the active one has id ${createKeyring(keys, random).ids[0]}.`)];
}

/** Does the key ring open the database? Leaves no trace: looking with a new key must not put that key in use. */
export async function checkKeyring(
  deps: { readonly config: Config; readonly random: Random; readonly now: number },
  db: Database,
): Promise<Finding[]> {
  const { config, random, now } = deps;
  const keyring = createKeyring(getMasterKeys(config, random).keys, random);
  const used = keysInUse(db);
  if (used.length === 0) return [warn("key ring", "The database is sealed under no key yet: start the server once.")];
  const unseen = unseenActiveKey(keyring, used);
  if (unseen !== undefined) {
    return [warn("key ring", `Key ${unseen} seals nothing yet: restart the server with it, then run "keys rotate".`)];
  }
  await openVault({ db, keyring, random, now });
  return [ok("key ring", `Opens the database, which is sealed under ${used.join(", ")}.`)];
}

/** The active key's id, when the ring has all that is needed but no server has sealed under that key so far. */
function unseenActiveKey(keyring: Keyring, used: readonly string[]): string | undefined {
  const [activeId] = keyring.ids;
  if (activeId === undefined || used.includes(activeId)) return undefined;
  return used.every((id) => keyring.has(id)) ? activeId : undefined;
}

interface MasterKeys {
  /** 32 bytes each, the active one first. */
  readonly keys: readonly Buffer[];
  /** undefined: given by settings. */
  readonly file: string | undefined;
  readonly warnings: readonly string[];
}

/** The keys that the server would start with. @throws CommandRefused when there are none: a check makes no key. */
function getMasterKeys(config: Config, random: Random): MasterKeys {
  if (config.masterKeys.length > 0) return { keys: config.masterKeys, file: undefined, warnings: [] };
  const file = join(config.dataDir, "master.key");
  if (!existsSync(file)) {
    throw new CommandRefused(`None is given and ${file} is not there: set PWPUSH_MASTER_KEY or restore the file.`);
  }
  const { key, warnings } = readOrMakeMasterKeyFile(config.dataDir, random);
  return { keys: [key], file, warnings };
}
