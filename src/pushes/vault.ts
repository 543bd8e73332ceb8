import type { Random } from "../base/random.ts";
import { AccessKeys } from "../crypto/access-keys.ts";
import { equalDigests } from "../crypto/digests.ts";
import { envelopeKeyId, type Keyring } from "../crypto/keyring.ts";
import { deriveKey, keyBytes, keyedHash } from "../crypto/sodium.ts";
import { createUrlTokens } from "../crypto/url-token.ts";
import type { Database, ReadConnection, Transaction } from "../database/database.ts";
import { createProcessRegistry, markKey, readKeyMarks } from "../database/processes.ts";
import { sql } from "../database/statement.ts";
import { meta } from "../database/tables.ts";
import type { PushRow } from "./store/tables.ts";

/** The keys that the domain uses: the key ring, and those derived from the secrets that it opens. */
export type Vault = Awaited<ReturnType<typeof openVault>>;

/** The database is sealed under a master key that is not in the ring. The message contains its id and no secret. */
export class WrongMasterKeyError extends Error {
  override readonly name = "WrongMasterKeyError";
}

/** A command has replaced the access secret since this process read it: it accepts nobody's session or token any more. */
export class ReplacedSecretError extends Error {
  override readonly name = "ReplacedSecretError";
}

/**
 * Secrets of the whole domain, generated once and sealed under the master key. The index secret names and checks links;
 * another one would end every link. The access secret authenticates sessions, tokens and accounts.
 */
const domainSecretNames = ["index_secret", "access_secret"] as const;
export type DomainSecretName = (typeof domainSecretNames)[number];

const ownerCheckBytes = 16;

/** @returns what authenticates whose push it is, and that its link is the owner's, who may have it stored nowhere: 16 bytes. */
export function ownerChecks(indexSecret: Buffer): (push: Pick<PushRow, "id" | "ownerId" | "linkCheck">) => Buffer {
  const key = deriveKey(indexSecret, "push owners");
  return ({ id, ownerId, linkCheck }) => keyedHash(key, ownerCheckBytes, "owner", id, ownerId, linkCheck);
}

const makeMeta = sql<[name: string, value: Buffer]>("INSERT INTO meta (name, value) VALUES (?, ?)");
const replaceMeta = sql<[value: Buffer, name: string]>("UPDATE meta SET value = ? WHERE name = ?");
const readMeta = sql<[name: string], { value: Buffer }>("SELECT value FROM meta WHERE name = ?");
const findData = sql<[], { found: number }>(
  "SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM pushes)",
);

/**
 * Opens the domain's secrets, or generates them for a new database, and records the active master key as one that may seal
 * rows.
 * @throws WrongMasterKeyError when a key that seals rows of this database is not in the ring; an Error with a sentence for the
 * operator when a secret is missing, or a running process lacks the active key.
 */
export async function openVault(deps: {
  db: Database;
  keyring: Keyring;
  random: Random;
  now: number;
  /** See `AccessKeys`. */
  onForgedRow: (table: string) => void;
}) {
  const { db, keyring, now } = deps;
  await assertKeysInUse(db, keyring);
  const activeId = keyring.ids[0] ?? "";
  if (await isNewDatabase(db.read)) await makeSecrets(deps, activeId);
  const indexSecret = await openDomainSecret(deps, "index_secret");
  const accessSecret = await openDomainSecret(deps, "access_secret");
  if (!(await keysInUse(db)).includes(activeId)) await introduceKey(db, activeId, now);
  return {
    keyring,
    urlTokens: createUrlTokens(indexSecret),
    /** A key of 32 bytes for what is stored with links. @param label the purpose. */
    indexKey: (label: string): Buffer => deriveKey(indexSecret, label),
    access: new AccessKeys(accessSecret, deps.onForgedRow),
    ownerCheckOf: ownerChecks(indexSecret),
    /**
     * For a process that others can see again: while they could not, they may have put a key to use or replaced a secret.
     * @throws WrongMasterKeyError, ReplacedSecretError.
     */
    async assertSameSecrets(): Promise<void> {
      await assertKeysInUse(db, keyring);
      const found = await openDomainSecret(deps, "access_secret");
      if (!equalDigests(found, accessSecret)) {
        throw new ReplacedSecretError(
          "The access secret was replaced since this server process started: start it again.",
        );
      }
    },
  };
}

/** @throws WrongMasterKeyError */
async function assertKeysInUse(db: Database, keyring: Keyring): Promise<void> {
  for (const id of await keysInUse(db)) {
    if (!keyring.has(id)) throw wrongMasterKey(id, keyring);
  }
}

/**
 * Before the first row is sealed under the key.
 * @throws Error while a process runs that lacks it: it could not open such rows, and would give up the emails among them.
 */
async function introduceKey(db: Database, keyId: string, now: number): Promise<void> {
  const registry = createProcessRegistry(db);
  await db.writeSerialized("keys", async (tx) => {
    const lacking = (await registry.running(now, tx)).filter(({ keyIds }) => !keyIds.includes(keyId));
    if (lacking.length > 0) {
      throw new Error(
        `${lacking.length} server process(es) without the master key ${keyId} run on this database, or ended in the last half ` +
          "minute without saying so. They could not open what is sealed under it: give it to them in " +
          "PWPUSH_MASTER_KEY_PREVIOUS and restart them, or stop them. Then try again.",
      );
    }
    await markKey(tx, keyId, now);
  });
}

/** Nothing has been sealed yet. Otherwise a missing secret is lost: another one would silently end every link and all access. */
export async function isNewDatabase(connection: ReadConnection): Promise<boolean> {
  for (const name of domainSecretNames) {
    if ((await findSealedSecret(connection, name)) !== undefined) return false;
  }
  if ((await readKeyMarks(connection)).length > 0) return false;
  return !(await hasData(connection));
}

export async function hasData(connection: ReadConnection): Promise<boolean> {
  return (await connection.one(findData)) !== undefined;
}

/** In one transaction, so that a crash leaves all of them or none. Changes nothing if another process was faster. */
async function makeSecrets(
  { db, keyring, random, now }: { db: Database; keyring: Keyring; random: Random; now: number },
  activeId: string,
): Promise<void> {
  await db.writeSerialized("keys", async (tx) => {
    if (!(await isNewDatabase(tx))) return;
    for (const name of domainSecretNames) {
      const row = { id: name, ownerId: null };
      await tx.run(makeMeta, name, keyring.seal(meta.seals.domainSecret, row, random.bytes(keyBytes)));
    }
    await markKey(tx, activeId, now);
  });
}

/**
 * For the transaction that renews all rows under the access secret. No other process may run: it would go on with the old one.
 * @returns the keys of the new access secret.
 */
export async function replaceAccessSecret(
  tx: Transaction,
  { keyring, random, onForgedRow }: { keyring: Keyring; random: Random; onForgedRow: (table: string) => void },
): Promise<AccessKeys> {
  const secret = random.bytes(keyBytes);
  const row = { id: "access_secret", ownerId: null };
  await tx.run(replaceMeta, keyring.seal(meta.seals.domainSecret, row, secret), row.id);
  return new AccessKeys(secret, onForgedRow);
}

async function openDomainSecret(
  { db, keyring }: { db: Database; keyring: Keyring },
  name: DomainSecretName,
): Promise<Buffer> {
  const sealed = await findSealedSecret(db.read, name);
  if (sealed === undefined) {
    throw new Error(
      `The database is in use, but the row ${name} of its table meta is missing. ` +
        "The server generates no other one, because that would end every link or all access: restore a backup.",
    );
  }
  const secret = openSecret(keyring, name, sealed);
  if (secret === undefined) throw wrongMasterKey(envelopeKeyId(sealed), keyring);
  return secret;
}

/** @returns 32 bytes; undefined when the ring lacks the master key. */
export function openSecret(keyring: Keyring, name: DomainSecretName, sealed: Buffer): Buffer | undefined {
  return keyring.open(meta.seals.domainSecret, { id: name, ownerId: null }, sealed);
}

/** Undefined: no server has started on the database yet. */
export async function findSealedSecret(
  connection: ReadConnection,
  name: DomainSecretName,
): Promise<Buffer | undefined> {
  return (await connection.one(readMeta, name))?.value;
}

/** For reads of a database that is not opened for writing. @returns undefined: no server has started on it, or the key is another. */
export async function findAccessKeys(connection: ReadConnection, keyring: Keyring): Promise<AccessKeys | undefined> {
  const sealed = await findSealedSecret(connection, "access_secret");
  const secret = sealed && openSecret(keyring, "access_secret", sealed);
  return secret && new AccessKeys(secret, () => undefined);
}

/** As `findAccessKeys`. @returns 32 bytes. */
export async function findIndexSecret(connection: ReadConnection, keyring: Keyring): Promise<Buffer | undefined> {
  const sealed = await findSealedSecret(connection, "index_secret");
  return sealed && openSecret(keyring, "index_secret", sealed);
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
