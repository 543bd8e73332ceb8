import { existsSync, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { reasonOrThrow } from "../base/system-error.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { schemaVersions } from "../database/schema/versions.ts";
import { openSecret } from "../pushes/vault.ts";
import {
  abortable,
  BackupError,
  describeFailure,
  type FileSum,
  readWhole,
  sumOf,
  writeSynced,
} from "./durable-files.ts";
import {
  assertSealed,
  blobKeyOf,
  blobPathInBackup,
  databaseName,
  type Manifest,
  manifestBytesMax,
  manifestName,
  readManifest,
  sealBytesMax,
  sealName,
} from "./manifest.ts";
import { allBlobs, DatabaseCopy } from "./sqlite/database-copy.ts";
import { type Member, readTar } from "./tar.ts";

export interface ReadOptions {
  /** Verifies the seal of the manifest. undefined: no master key is given, so only damage is detected. */
  readonly keyring: Keyring | undefined;
  /** An empty folder for the database and the blobs. undefined: nothing is unpacked and the database is not checked. */
  readonly unpackTo: { readonly folder: string; readonly blobs: boolean } | undefined;
  readonly signal: AbortSignal;
}

/** The files of a backup, each once, in any order. @throws BackupError if it is not a backup. */
export type BackupSource = () => AsyncIterable<Member>;

/** @param from a folder or an archive. @throws BackupError if neither exists. */
export function openBackup(from: string): BackupSource {
  if (!existsSync(from)) throw new BackupError(`There is no backup at ${from}.`);
  return statSync(from).isDirectory() ? () => readFolder(from) : () => readTar(chunksOf(from));
}

export function openPipe(stdin: AsyncIterable<Uint8Array>): BackupSource {
  return () => readTar(stdin);
}

/** The manifest first, then the files that it names. Other files in the folder are ignored. */
async function* readFolder(folder: string): AsyncGenerator<Member> {
  const [manifest, seal] = [await memberOf(folder, manifestName), await memberOf(folder, sealName)];
  if (manifest.bytes > manifestBytesMax) throw new BackupError("The manifest of the backup is too long.");
  const { files } = readManifest(
    await describeFailure(join(folder, manifestName), "read", () => readFile(join(folder, manifestName))),
  );
  yield manifest;
  yield seal;
  for (const { path } of files) yield await memberOf(folder, path);
}

async function memberOf(folder: string, path: string): Promise<Member> {
  const file = join(folder, path);
  if (!existsSync(file)) throw new BackupError(`The backup has no ${path}: it is not complete.`);
  return { path, bytes: statSync(file).size, content: chunksOf(file) };
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* readWhole(path);
  } catch (error) {
    throw new BackupError(`${path} cannot be read (${reasonOrThrow(error)}).`, { cause: error });
  }
}

/**
 * Reads a whole backup and checks it: it has exactly the files of the manifest, with their sizes and checksums; a given master
 * key sealed the manifest; the database is sound and names no missing blob. @throws BackupError if a check fails.
 */
export async function readBackup(source: BackupSource, options: ReadOptions): Promise<Manifest> {
  const reader = new BackupReader(options);
  for await (const member of source()) await reader.take(member);
  return reader.finish();
}

class BackupReader {
  readonly #options: ReadOptions;
  readonly #found = new Map<string, FileSum>();
  #manifest: Buffer | undefined;
  #seal: Buffer | undefined;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  async take(member: Member): Promise<void> {
    const { path } = member;
    if (path === manifestName && this.#manifest === undefined) {
      this.#manifest = await contentOf(member, manifestBytesMax);
    } else if (path === sealName && this.#seal === undefined) {
      this.#seal = await contentOf(member, sealBytesMax);
      // In a folder these come first: a wrong key is reported before a terabyte is read.
      if (this.#manifest !== undefined) this.#checkedManifest();
    } else if ((path === databaseName || blobKeyOf(path) !== undefined) && !this.#found.has(path)) {
      this.#found.set(path, await this.#takeFile(member));
    } else {
      throw new BackupError("The backup holds a file twice, or a file that does not belong to a backup.");
    }
  }

  async #takeFile({ path, content }: Member): Promise<FileSum> {
    const { signal, unpackTo } = this.#options;
    const bytes = abortable(content, signal);
    if (unpackTo === undefined || (path !== databaseName && !unpackTo.blobs)) return await sumOf(bytes);
    const file = join(unpackTo.folder, path);
    await describeFailure(dirname(file), "created", () => mkdir(dirname(file), { recursive: true, mode: 0o700 }));
    return await writeSynced(file, bytes);
  }

  finish(): Manifest {
    const manifest = this.#checkedManifest();
    for (const { path, bytes, sha256 } of manifest.files) {
      const found = this.#found.get(path);
      if (found === undefined) throw new BackupError(`The backup has no ${path}: it is not complete.`);
      if (found.bytes !== bytes || found.sha256 !== sha256) {
        throw new BackupError(`${path} in the backup is damaged or was changed.`);
      }
    }
    if (this.#found.size !== manifest.files.length) {
      throw new BackupError("The backup holds files that its manifest does not name.");
    }
    const { unpackTo } = this.#options;
    if (unpackTo !== undefined) this.#checkDatabase(manifest, join(unpackTo.folder, databaseName));
    return manifest;
  }

  #checkedManifest(): Manifest {
    if (this.#manifest === undefined || this.#seal === undefined) {
      throw new BackupError("The backup has no manifest with its seal: it was not completed.");
    }
    const manifest = readManifest(this.#manifest);
    const { keyring } = this.#options;
    if (keyring !== undefined) {
      assertKeys(manifest.keyIds, keyring);
      assertSealed(keyring, this.#manifest, this.#seal.toString("latin1"));
    }
    if (manifest.schemaVersion > schemaVersions.length) {
      throw new BackupError(
        `The backup has schema version ${manifest.schemaVersion}, this program knows ${schemaVersions.length}: ` +
          `restore it with Sealpush ${manifest.applicationVersion} or newer.`,
      );
    }
    return manifest;
  }

  #checkDatabase(manifest: Manifest, path: string): void {
    using copy = new DatabaseCopy(path);
    copy.assertSound();
    const { schemaVersion, keyIds } = copy.facts();
    if (schemaVersion !== manifest.schemaVersion) {
      throw new BackupError("The database of the backup does not have the schema version of the manifest.");
    }
    const { keyring } = this.#options;
    if (keyring !== undefined) {
      assertKeys(keyIds, keyring);
      const sealed = copy.indexSecretSealed();
      if (sealed === undefined || openSecret(keyring, "index_secret", sealed) === undefined) {
        throw new BackupError("The given master keys do not open the database of the backup.");
      }
    }
    const known = new Set(manifest.pushesWithoutFiles);
    for (const { pushId, blobKey } of allBlobs(copy)) {
      if (known.has(pushId) || this.#found.has(blobPathInBackup(blobKey))) continue;
      throw new BackupError("The database of the backup names files that are not in the backup.");
    }
  }
}

function assertKeys(needed: readonly string[], keyring: Keyring): void {
  const missing = needed.filter((id) => !keyring.has(id));
  if (missing.length === 0) return;
  throw new BackupError(
    `The backup is sealed under master key ${missing.join(" and ")}, which is not one of the given keys ` +
      `(${keyring.ids.join(", ")}): give it in PWPUSH_MASTER_KEY or PWPUSH_MASTER_KEY_PREVIOUS.`,
  );
}

async function contentOf({ path, bytes, content }: Member, bytesMax: number): Promise<Buffer> {
  if (bytes > bytesMax) throw new BackupError(`${path} in the backup is too long.`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}
