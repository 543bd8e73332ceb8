import type { Config } from "../../config/config.ts";
import { createKeyring } from "../../crypto/keyring.ts";
import { openReadOnly } from "../../database/open-database.ts";
import type { StoredData } from "../../import/stored-import.ts";
import { findAccessKeys, findIndexSecret, isNewDatabase } from "../../pushes/vault.ts";
import type { CliIo } from "../cli-io.ts";
import { findMasterKeys } from "../open-domain.ts";

/** Why there is nothing to read here. Callers end the sentence. */
export const noDataReasons = {
  missing: "There is no data here yet",
  older: "The database here is of an older version",
  no_key: "The master key of the database here was not found",
};

/**
 * Opens the data of this installation without any way to change them, and closes them after the work.
 * @param work also gets why there is nothing to read.
 */
export async function withStoredData<T>(
  config: Config,
  io: CliIo,
  work: (data: StoredData | keyof typeof noDataReasons) => Promise<T>,
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
