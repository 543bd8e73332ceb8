import { existsSync, realpathSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { BlobMissingError, type BlobStore } from "../blobs/blob-store.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { sealedLength } from "../crypto/stream-seal.ts";
import { moveMarkNames, refuseMoveMarks } from "../database/move-marks.ts";
import { schemaVersions } from "../database/schema/versions.ts";
import { openSecret } from "../pushes/vault.ts";
import { type BackupTarget, createFolderTarget, createPipeTarget, createTarTarget } from "./backup-target.ts";
import { abortable, BackupError, makeFolder, removeTree } from "./durable-files.ts";
import {
  type BackupFile,
  blobPathInBackup,
  databaseName,
  type Manifest,
  manifestName,
  sealManifest,
  sealName,
  writeManifest,
} from "./manifest.ts";
import { openBackup, readBackup } from "./read-backup.ts";
import { allBlobs, copyDatabase, DatabaseCopy, isStillUsed, type LiveBlob } from "./sqlite/database-copy.ts";

export interface BackupDeps {
  readonly databasePath: string;
  readonly dataDir: string;
  readonly blobs: BlobStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  /** Version of the application. */
  readonly version: string;
  /** Writes to the standard output; resolves when the other side has taken the bytes. */
  readonly pipe: (bytes: Uint8Array) => Promise<void>;
  /** Aborted when the command is to stop. */
  readonly signal: AbortSignal;
}

export type BackupReport = Awaited<ReturnType<typeof createBackup>>;

/** Each round is shorter than the one before, so less changes meanwhile. Changes during the last one are recorded in the manifest. */
const roundsMax = 3;

/**
 * Copies database and blobs while servers use them. The database is copied first, because every blob that it names was
 * stored before. A blob that is missing by then belonged to a push that has ended or was edited since, so the database is
 * copied again. The manifest names pushes whose blobs are still missing after the last round.
 * @param to a folder, or a file whose name ends in `.tar`, that does not exist and is outside of the data folder, or `-`.
 * @throws BackupError; then nothing has the target's name.
 */
export async function createBackup(deps: BackupDeps, to: string) {
  const target = to === "-" ? undefined : resolve(to);
  if (target !== undefined) refuseTarget(target, deps.dataDir);
  const work = `${target ?? join(deps.dataDir, "backup")}.partial-${deps.random.bytes(6).toString("hex")}`;
  await makeFolder(work);
  try {
    const writer = new BackupWriter(deps, work, await openTarget(deps, target, work));
    return await writer.run();
  } finally {
    await removeTree(work);
  }
}

/** A backup in the data folder would be lost, stolen or damaged together with it. Symbolic links are resolved. */
function refuseTarget(target: string, dataDir: string): void {
  if (existsSync(target)) throw new BackupError(`${target} exists already, and nothing is overwritten.`);
  if (!existsSync(dirname(target)))
    throw new BackupError(`The folder ${dirname(target)} for ${basename(target)} does not exist.`);
  const dataFolder = realpathSync(dataDir);
  if (`${realpathSync(dirname(target))}${sep}`.startsWith(`${dataFolder}${sep}`)) {
    throw new BackupError(`${target} is in the data folder ${dataFolder}. Choose a path outside of it.`);
  }
}

async function openTarget(deps: BackupDeps, target: string | undefined, work: string): Promise<BackupTarget> {
  const now = deps.clock.now();
  if (target === undefined) return createPipeTarget(deps.pipe, now);
  return target.endsWith(".tar") ? await createTarTarget(target, work, now) : createFolderTarget(target, work);
}

class BackupWriter {
  readonly #deps: BackupDeps;
  readonly #target: BackupTarget;
  readonly #copyPath: string;
  readonly #files = new Map<string, BackupFile>();
  /** Blobs whose content ended too early. Another round would not help. */
  readonly #short = new Set<string>();

  constructor(deps: BackupDeps, work: string, target: BackupTarget) {
    this.#deps = deps;
    this.#target = target;
    this.#copyPath = join(work, databaseName);
  }

  /** @returns `readBack`: the backup was read back and checked. */
  async run() {
    const { keyring, signal } = this.#deps;
    const { createdAt, pushesWithoutFiles } = await this.#copyAll();
    const manifest = this.#describe(createdAt, pushesWithoutFiles);
    const databaseBytes = statSync(this.#copyPath).size;
    const written = await this.#target.addDatabase(databaseName, this.#copyPath, databaseBytes);
    const whole = { ...manifest, files: [{ path: databaseName, ...written }, ...this.#files.values()] };
    const text = writeManifest(whole);
    await this.#target.add(manifestName, text.length, chunksOf(text));
    const seal = Buffer.from(sealManifest(keyring, text));
    await this.#target.add(sealName, seal.length, chunksOf(seal));
    await this.#target.close();
    if (this.#target.written !== undefined) {
      await readBackup(openBackup(this.#target.written), { keyring, unpackTo: undefined, signal });
    }
    await this.#target.finish();
    return { manifest: whole, readBack: this.#target.written !== undefined };
  }

  async #copyAll(): Promise<{ createdAt: number; pushesWithoutFiles: readonly number[] }> {
    for (let round = 1; ; round += 1) {
      await rm(this.#copyPath, { force: true });
      const createdAt = this.#deps.clock.now();
      await copyDatabase(this.#deps.databasePath, this.#copyPath);
      const missing = await this.#copyBlobs();
      const hasChanged = ({ blobKey }: LiveBlob) =>
        !this.#short.has(blobKey) && !isStillUsed(this.#deps.databasePath, blobKey);
      if (round < roundsMax && missing.some(hasChanged)) continue;
      return { createdAt, pushesWithoutFiles: [...new Set(missing.map(({ pushId }) => pushId))] };
    }
  }

  /** @returns blobs that the copied database names and that are not in the backup. */
  async #copyBlobs(): Promise<readonly LiveBlob[]> {
    const missing: LiveBlob[] = [];
    using copy = new DatabaseCopy(this.#copyPath);
    // A restore would open links that have been used up in the other database.
    refuseMoveMarks(copy.marksAmong(moveMarkNames));
    for (const blob of allBlobs(copy)) {
      this.#deps.signal.throwIfAborted();
      const path = blobPathInBackup(blob.blobKey);
      if (this.#short.has(blob.blobKey) || !(this.#files.has(path) || (await this.#copyBlob(path, blob)))) {
        missing.push(blob);
      }
    }
    return missing;
  }

  async #copyBlob(path: string, { blobKey, sizeBytes }: LiveBlob): Promise<boolean> {
    const bytes = sealedLength(sizeBytes);
    const content = abortable(this.#deps.blobs.read(blobKey, { start: 0, end: bytes - 1 }), this.#deps.signal);
    try {
      const { outcome, written } = await this.#target.add(path, bytes, content);
      if (written !== undefined) this.#files.set(path, { path, ...written });
      if (outcome === "short") this.#short.add(blobKey);
      return outcome === "whole";
    } catch (error) {
      if (error instanceof BlobMissingError) return false;
      throw error;
    }
  }

  /** @throws BackupError if the copy is damaged, or the master keys are not those of the database. */
  #describe(createdAt: number, pushesWithoutFiles: readonly number[]): Omit<Manifest, "files"> {
    const { keyring, databasePath, version } = this.#deps;
    using copy = new DatabaseCopy(this.#copyPath);
    copy.assertSound();
    const { schemaVersion, keyIds, counts } = copy.facts();
    if (schemaVersion > schemaVersions.length) {
      throw new BackupError(
        `${databasePath} has the schema of a newer version of Sealpush: make the backup with that version.`,
      );
    }
    const sealed = copy.indexSecretSealed();
    if (sealed === undefined || openSecret(keyring, "index_secret", sealed) === undefined) {
      throw new BackupError(
        `The given master key (${keyring.ids.join(", ")}) is not the one of ${databasePath} (${keyIds.join(", ")}). ` +
          "A backup that is sealed under another key could not be restored.",
      );
    }
    const ids = [...new Set([...keyIds, ...keyring.ids.slice(0, 1)])];
    return { schemaVersion, applicationVersion: version, createdAt, keyIds: ids, counts, pushesWithoutFiles };
  }
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
