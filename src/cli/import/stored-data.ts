import type { Config } from "../../config/config.ts";
import { createKeyring } from "../../crypto/keyring.ts";
import { openReadOnly } from "../../database/open-database.ts";
import type { StoredData } from "../../import/stored-import.ts";
import { findAccessKeys, findIndexSecret, isNewDatabase } from "../../pushes/vault.ts";
import type { CliIo } from "../cli-io.ts";
import { findMasterKeys } from "../open-domain.ts";

/**
 * Opens the data of this installation without any way to change them, and closes them after the work.
 * @param work also gets "missing": nothing is stored yet; "older": in a schema of an older version; "no_key": its master key was
 * not found.
 */
export async function withStoredData<T>(
  config: Config,
  io: CliIo,
  work: (data: StoredData | "missing" | "older" | "no_key") => Promise<T>,
): Promise<T> {
  const database = await openReadOnly(config.database);
  if (typeof database === "string") return await work(database);
  try {
    const { read } = database;
    if (await isNewDatabase(read)) return await work("missing");
    const keys = findMasterKeys(config, io.random);
    const keyring = keys && createKeyring(keys.keys, io.random);
    const access = keyring && (await findAccessKeys(read, keyring));
    const indexSecret = keyring && (await findIndexSecret(read, keyring));
    return await work(access && indexSecret ? { read, keyring, access, indexSecret } : "no_key");
  } finally {
    await database.close();
  }
}
