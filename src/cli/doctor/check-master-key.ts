import type { Random } from "../../base/random.ts";
import type { Config } from "../../config/config.ts";
import { createKeyring, type Keyring } from "../../crypto/keyring.ts";
import type { Database } from "../../database/database.ts";
import { keysInUse, openVault } from "../../pushes/vault.ts";
import { getMasterKeys } from "../open-domain.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** Whether there are master keys that no other user can read. Creates none. */
export function checkMasterKey(config: Config, random: Random): Finding[] {
  const { keys, file, warnings } = getMasterKeys(config, random);
  if (warnings.length > 0) return warnings.map((warning) => warn("master key", warning));
  const origin = file ?? `settings (${keys.length} given)`;
  return [ok("master key", `Read from ${origin}; the active one has id ${createKeyring(keys, random).ids[0]}.`)];
}

/** Whether the key ring opens the database. Changes nothing: a check with a new key must not put that key into use. */
export async function checkKeyring(
  deps: { readonly config: Config; readonly random: Random; readonly now: number },
  db: Database,
): Promise<Finding[]> {
  const { config, random, now } = deps;
  const keyring = createKeyring(getMasterKeys(config, random).keys, random);
  const used = await keysInUse(db);
  if (used.length === 0) return [warn("key ring", "Nothing in the database is encrypted yet: start the server once.")];
  const unseen = unseenActiveKey(keyring, used);
  if (unseen !== undefined) {
    return [warn("key ring", `Key ${unseen} is not in use yet: restart the server with it, then run "keys rotate".`)];
  }
  await openVault({ db, keyring, random, now });
  return [ok("key ring", `It opens the database, which is encrypted under ${used.join(", ")}.`)];
}

/** The active key's id if the ring has every key in use, but no server has used the active one yet. */
function unseenActiveKey(keyring: Keyring, used: readonly string[]): string | undefined {
  const [activeId] = keyring.ids;
  if (activeId === undefined || used.includes(activeId)) return undefined;
  return used.every((id) => keyring.has(id)) ? activeId : undefined;
}
