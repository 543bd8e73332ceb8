import type { Random } from "../base/random.ts";
import { AccessKeys, accessSecretBytes } from "../crypto/access-keys.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { envelopeKeyId } from "../crypto/seal.ts";
import { createUrlTokens } from "../crypto/url-token.ts";
import type { Database, ReadConnection } from "../database/database.ts";
import { markKey, readKeyMarks } from "../database/processes.ts";
import { sql } from "../database/statement.ts";

/** The keys that the domain uses: the key ring, and the secrets of the database that it unseals. */
export type Vault = Awaited<ReturnType<typeof openVault>>;

/** The database is sealed under a master key that is not in the ring. The message contains its id and no secret. */
export class WrongMasterKeyError extends Error {
  override readonly name = "WrongMasterKeyError";
}

export const indexKeyContext = "meta:index-key";
export const indexKeyName = "index_key";
const indexKeyBytes = 32;

const accessSecret = { name: "access_secret", context: "meta:access-secret", bytes: accessSecretBytes } as const;
const indexKeyValue = { name: indexKeyName, context: indexKeyContext, bytes: indexKeyBytes } as const;
/** Secrets of the database, each sealed under a master key in a row of `meta`. */
export const sealedMetaValues = [indexKeyValue, accessSecret] as const;

const makeMeta = sql<[name: string, value: Buffer]>(
  "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
);
const readMeta = sql<[name: string], { value: Buffer }>("SELECT value FROM meta WHERE name = ?");

/**
 * Opens the secrets of the database, or generates them for a new one, and records the active master key as one that may seal rows.
 * @throws WrongMasterKeyError when a key that seals rows of this database is not in the ring.
 */
export async function openVault(deps: { db: Database; keyring: Keyring; random: Random; now: number }) {
  const { db, keyring, now } = deps;
  for (const id of await keysInUse(db)) {
    if (!keyring.has(id)) throw wrongMasterKey(id, keyring);
  }
  const indexKey = await openOrMake(indexKeyValue, deps);
  const access = new AccessKeys(await openOrMake(accessSecret, deps));
  const activeId = keyring.ids[0] ?? "";
  if (!(await keysInUse(db)).includes(activeId)) {
    await db.writeSerialized("keys", (tx) => markKey(tx, activeId, now));
  }
  return {
    keyring,
    urlTokens: createUrlTokens(indexKey),
    access,
  };
}

/** @throws WrongMasterKeyError when it is sealed under a key that is not in the ring. */
async function openOrMake(
  { name, context, bytes }: (typeof sealedMetaValues)[number],
  { db, keyring, random }: { readonly db: Database; readonly keyring: Keyring; readonly random: Random },
): Promise<Buffer> {
  if ((await db.read.one(readMeta, name)) === undefined) {
    await db.autocommit({ retry: "whenNotExecuted" }).run(makeMeta, name, keyring.seal(context, random.bytes(bytes)));
  }
  const sealed = (await db.read.one(readMeta, name))?.value;
  const opened = sealed === undefined ? undefined : keyring.open(context, sealed);
  if (opened === undefined) throw wrongMasterKey(sealed === undefined ? undefined : envelopeKeyId(sealed), keyring);
  return opened;
}

/** Undefined: no server has started on the database yet. */
export async function findSealedIndexKey(connection: ReadConnection): Promise<Buffer | undefined> {
  return (await connection.one(readMeta, indexKeyName))?.value;
}

/** For reads of a database that is not opened for writing. @returns undefined: no server has started on it, or the key is another. */
export async function findAccessKeys(connection: ReadConnection, keyring: Keyring): Promise<AccessKeys | undefined> {
  const sealed = (await connection.one(readMeta, accessSecret.name))?.value;
  const opened = sealed === undefined ? undefined : keyring.open(accessSecret.context, sealed);
  return opened === undefined ? undefined : new AccessKeys(opened);
}

/** Ids of the master keys that may seal rows of this database. */
export async function keysInUse(db: Database): Promise<readonly string[]> {
  return (await readKeyMarks(db.read)).map((mark) => mark.keyId);
}

function wrongMasterKey(id: string | undefined, keyring: Keyring): WrongMasterKeyError {
  const needed = id === undefined ? "another master key" : `the master key with id ${id}`;
  return new WrongMasterKeyError(
    `The database is sealed under ${needed}, which is not among the given ones (${keyring.ids.join(", ")}). ` +
      "Give it in PWPUSH_MASTER_KEY or PWPUSH_MASTER_KEY_PREVIOUS, or restore master.key to the data folder.",
  );
}
