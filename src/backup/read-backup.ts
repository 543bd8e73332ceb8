import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Keyring } from "../crypto/keyring.ts";
import { schemaVersions } from "../database/schema/versions.ts";
import { indexKeyContext } from "../pushes/vault.ts";
import { BackupError } from "./backup-error.ts";
import type { BackupSource } from "./backup-source.ts";
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
import { saying, sumOf, type Written, writeSynced } from "./synced-files.ts";
import type { Member } from "./tar-reader.ts";
import { untilStopped } from "./until-stopped.ts";

export interface ReadOptions {
  /** The master keys to check the seal with; undefined: there are none, and only damage can be told. */
  readonly keyring: Keyring | undefined;
  /** Where to put database and blobs, in an empty folder; undefined: nowhere, so the database is not looked into. */
  readonly unpackTo: { readonly folder: string; readonly blobs: boolean } | undefined;
  readonly stop: AbortSignal;
}

/**
 * Reads a backup to its end and checks it: every file is there, as long and with the sum that the manifest says, nothing
 * else is, the manifest is sealed by a given master key, the database is sound and names no blob that is missing.
 * @throws BackupError when anything does not hold.
 */
export async function readBackup(source: BackupSource, options: ReadOptions): Promise<Manifest> {
  const reading = new Reading(options);
  for await (const member of source()) await reading.take(member);
  return reading.finish();
}

class Reading {
  readonly #options: ReadOptions;
  readonly #found = new Map<string, Written>();
  #manifest: Buffer | undefined;
  #seal: Buffer | undefined;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  async take(member: Member): Promise<void> {
    const { path } = member;
    if (path === manifestName && this.#manifest === undefined) {
      this.#manifest = await wholeOf(member, manifestBytesMax);
    } else if (path === sealName && this.#seal === undefined) {
      this.#seal = await wholeOf(member, sealBytesMax);
      // In a folder they come first: a missing key is told before a terabyte has been read.
      if (this.#manifest !== undefined) this.#checkedManifest();
    } else if ((path === databaseName || blobKeyOf(path) !== undefined) && !this.#found.has(path)) {
      this.#found.set(path, await this.#takeFile(member));
    } else {
      throw new BackupError("The backup holds a file twice, or one that is in no backup.");
    }
  }

  async #takeFile({ path, content }: Member): Promise<Written> {
    const { stop, unpackTo } = this.#options;
    const bytes = untilStopped(content, stop);
    if (unpackTo === undefined || (path !== databaseName && !unpackTo.blobs)) return await sumOf(bytes);
    const place = join(unpackTo.folder, path);
    await saying(dirname(place), "made", () => mkdir(dirname(place), { recursive: true, mode: 0o700 }));
    return await writeSynced(place, bytes);
  }

  finish(): Manifest {
    const manifest = this.#checkedManifest();
    for (const { path, bytes, sha256 } of manifest.files) {
      const found = this.#found.get(path);
      if (found === undefined) throw new BackupError(`The backup has no ${path}: it is not complete.`);
      if (found.bytes !== bytes || found.sha256 !== sha256) {
        throw new BackupError(`${path} in the backup is not what was written: it is damaged or has been changed.`);
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
      throw new BackupError("The backup has no manifest with its seal: it was not finished.");
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
      throw new BackupError("The database of the backup has not the schema that the manifest says.");
    }
    const { keyring } = this.#options;
    if (keyring !== undefined) {
      assertKeys(keyIds, keyring);
      const indexKey = copy.indexKeySealed();
      if (indexKey === undefined || keyring.open(indexKeyContext, indexKey) === undefined) {
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
    `The backup is sealed under the master key with id ${missing.join(" and ")}, which is not among the given ones ` +
      `(${keyring.ids.join(", ")}): give it in PWPUSH_MASTER_KEY or PWPUSH_MASTER_KEY_PREVIOUS.`,
  );
}

async function wholeOf({ path, bytes, content }: Member, bytesMax: number): Promise<Buffer> {
  if (bytes > bytesMax) throw new BackupError(`${path} in the backup is too long to be one.`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}
