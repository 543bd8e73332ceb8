import { existsSync, readdirSync } from "node:fs";
import { copyFile, link, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Administrator } from "../accounts/accounts.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import { makeDataFolder, refuseUnfinishedRestore, unfinishedRestorePath } from "../config/data-folder.ts";
import { systemErrorCode } from "../config/system-error.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Domain } from "../domain.ts";
import { BackupError } from "./backup-error.ts";
import type { BackupSource } from "./backup-source.ts";
import { endPushes } from "./end-pushes.ts";
import { blobKeyOf, blobPathInBackup, blobsName, databaseName, type Manifest } from "./manifest.ts";
import { readBackup } from "./read-backup.ts";
import { allBlobs, DatabaseCopy } from "./sqlite/database-copy.ts";
import { forgetRevived, type Revived } from "./sqlite/forget-revived.ts";
import { makeFolder, readWhole, removeTree, saying, syncFile, syncFolders } from "./synced-files.ts";

export interface RestoreDeps {
  readonly dataDir: string;
  /** Where the settings want the database, in the data folder or elsewhere. */
  readonly databasePath: string;
  readonly keyring: Keyring;
  readonly now: () => number;
  /** As whom the administrators' trail names the restore. */
  readonly by: Administrator;
  /** A domain on other data, with the same keys: brings an older schema up to date. */
  readonly openDomain: (place: { readonly dataDir: string; readonly databasePath: string }) => Promise<Domain>;
  /** Where the settings keep blobs, when that is not the data folder. */
  readonly blobsElsewhere: BlobStore | undefined;
  readonly stop: AbortSignal;
}

export interface RestoreRequest {
  readonly source: BackupSource;
  /** What becomes of live pushes: views that were spent since the backup are forgotten. */
  readonly livePushes: "keep_open" | "end_all";
  readonly revokeTokens: boolean;
}

export interface RestoreReport {
  readonly manifest: Manifest;
  readonly pushesEnded: number;
  readonly revived: Revived;
}

/**
 * Puts a backup into a data folder without a domain. All of it is unpacked, checked, brought up to date and made void
 * where it has to be in a folder of its own, by whose name servers and other restores see that something is under way;
 * only then it is moved into place. Whatever fails before leaves the data folder as it was.
 * @throws BackupError, and what opening the domain throws.
 */
export async function restoreBackup(deps: RestoreDeps, request: RestoreRequest): Promise<RestoreReport> {
  const { dataDir, keyring, stop } = deps;
  makeDataFolder(dataDir);
  refuseUnfinishedRestore(dataDir);
  const work = unfinishedRestorePath(dataDir);
  await makeFolder(work);
  const placed: (() => Promise<void>)[] = [];
  try {
    refuseOccupied(deps);
    const keepOpen = request.livePushes === "keep_open";
    const unpackTo = { folder: work, blobs: keepOpen };
    const manifest = await readBackup(request.source, { keyring, unpackTo, stop });
    const unpacked = join(work, databaseName);
    if (keepOpen) await dropUnnamed(work, manifest, unpacked);
    const pushesEnded = await bringUpToDate(deps, unpacked, manifest, keepOpen);
    const revived = forgetRevived(unpacked, { now: deps.now(), revokeTokens: request.revokeTokens });
    await syncFolders(work);
    stop.throwIfAborted();
    if (keepOpen) placed.push(await placeBlobs(deps, work));
    placed.push(await placeDatabase(unpacked, deps.databasePath));
    await removeWork(work);
    return { manifest, pushesEnded, revived };
  } catch (error) {
    // In this order: the name of the work folder goes only when nothing half is left beside it.
    for (const undo of placed.reverse()) await undo();
    await removeWork(work);
    throw error;
  }
}

/** @throws BackupError when there is anything that a restore would have to replace or mix with. */
function refuseOccupied({ dataDir, databasePath }: RestoreDeps): void {
  for (const path of ["", "-wal", "-shm", "-journal"].map((suffix) => `${databasePath}${suffix}`)) {
    if (existsSync(path)) {
      throw new BackupError(`${path} is there already: restore into an empty data folder, nothing is overwritten.`);
    }
  }
  const blobs = join(dataDir, blobsName);
  if (existsSync(blobs) && readdirSync(blobs).length > 0) {
    throw new BackupError(`${blobs} is not empty: restore into an empty data folder, nothing is overwritten.`);
  }
}

/** Brings the schema up to date, ends what is not to stay open, and says in the trail what happened. */
async function bringUpToDate(
  deps: RestoreDeps,
  databasePath: string,
  manifest: Manifest,
  keepOpen: boolean,
): Promise<number> {
  const domain = await deps.openDomain({ dataDir: dirname(databasePath), databasePath });
  try {
    const ended = await endPushes(domain, keepOpen ? new Set(manifest.pushesWithoutFiles) : null, deps.now());
    const state = new Date(manifest.createdAt).toISOString();
    await domain.db.write(domain.accounts.adminEntry("restored_backup", state, deps.by));
    return ended;
  } finally {
    await domain.close();
  }
}

/** Blobs that no push of the restored database has would lie there for ever. */
async function dropUnnamed(work: string, manifest: Manifest, databasePath: string): Promise<void> {
  using copy = new DatabaseCopy(databasePath);
  const named = new Set([...allBlobs(copy)].map(({ blobKey }) => blobPathInBackup(blobKey)));
  for (const { path } of manifest.files) {
    if (path !== databaseName && !named.has(path)) await rm(join(work, path));
  }
}

/** @returns what takes them away again. */
async function placeBlobs({ dataDir, blobsElsewhere }: RestoreDeps, work: string): Promise<() => Promise<void>> {
  const from = join(work, blobsName);
  const to = join(dataDir, blobsName);
  if (!existsSync(from)) return async () => undefined;
  if (blobsElsewhere !== undefined) return await writeBlobs(from, blobsElsewhere);
  // Only onto an empty folder: the system refuses it otherwise.
  await saying(to, "made", () => rename(from, to));
  await syncFile(dataDir);
  return () => removeTree(to);
}

async function writeBlobs(from: string, blobs: BlobStore): Promise<() => Promise<void>> {
  const written: string[] = [];
  const undo = async () => {
    for (const key of written) await blobs.delete(key);
  };
  try {
    for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
      const key = entry.isFile() ? blobKeyOf(`${blobsName}/${entry.name.slice(0, 2)}/${entry.name}`) : undefined;
      if (key === undefined) continue;
      written.push(key);
      await blobs.write(key, readWhole(join(entry.parentPath, entry.name)));
    }
    return undo;
  } catch (error) {
    await undo();
    throw error;
  }
}

/** The last step, which a server would start on. @returns what takes it away again. */
async function placeDatabase(from: string, to: string): Promise<() => Promise<void>> {
  await saying(dirname(to), "made", () => mkdir(dirname(to), { recursive: true, mode: 0o700 }));
  const undo = () => rm(to);
  try {
    await link(from, to);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "EEXIST") throw new BackupError(`${to} is there already; nothing is overwritten.`);
    // On another disk, or one without links.
    await copyInto(from, to);
  }
  await syncFile(dirname(to));
  return undo;
}

async function copyInto(from: string, to: string): Promise<void> {
  const draft = `${to}.partial`;
  try {
    await saying(draft, "written", () => copyFile(from, draft));
    await syncFile(draft);
    await saying(to, "made", () => rename(draft, to));
  } finally {
    await rm(draft, { force: true });
  }
}

/** Loses its name at once: a domain that is whole must not be taken for an unfinished one while the rest goes. */
async function removeWork(work: string): Promise<void> {
  const old = `${work}.old`;
  await removeTree(old);
  if (!existsSync(work)) return;
  await rename(work, old);
  await syncFile(dirname(work));
  await removeTree(old);
}
