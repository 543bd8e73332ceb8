import { existsSync, readdirSync } from "node:fs";
import { copyFile, link, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Administrator } from "../accounts/accounts.ts";
import { systemErrorCode } from "../base/system-error.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import { markBlobFolder } from "../blobs/file-blob-store.ts";
import { makeDataFolder, refuseUnfinishedRestore, unfinishedRestorePath } from "../config/data-folder.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Domain } from "../domain.ts";
import type { AuditRecord } from "../pushes/audit/audit-trail.ts";
import {
  BackupError,
  describeFailure,
  linkOrRename,
  makeFolder,
  readWhole,
  removeTree,
  syncFolders,
  syncPath,
} from "./durable-files.ts";
import { blobKeyOf, blobPathInBackup, blobsName, databaseName, type Manifest } from "./manifest.ts";
import { type BackupSource, readBackup } from "./read-backup.ts";
import { clearTransientState } from "./sqlite/clear-transient-state.ts";
import { allBlobs, DatabaseCopy } from "./sqlite/database-copy.ts";

export interface RestoreDeps {
  readonly dataDir: string;
  /** The path of the database by the settings, in the data folder or outside of it. */
  readonly databasePath: string;
  readonly keyring: Keyring;
  readonly now: () => number;
  /** Named in the administrators' audit trail. */
  readonly by: Administrator;
  /** Opens a domain on other data with the same keys. It migrates an older schema. */
  readonly openDomain: (location: { readonly dataDir: string; readonly databasePath: string }) => Promise<Domain>;
  /** The blob store by the settings, if it is not the data folder. */
  readonly remoteBlobs: BlobStore | undefined;
  readonly signal: AbortSignal;
}

export interface RestoreRequest {
  readonly source: BackupSource;
  /** The backup does not know the views since it was made, so live pushes either keep their old views or end. */
  readonly livePushes: "keep_open" | "end_all";
  /** Tokens that were revoked after the backup would work again. */
  readonly keepTokens: boolean;
}

export type RestoreReport = Awaited<ReturnType<typeof restoreBackup>>;

/**
 * Restores a backup into an empty data folder. It is unpacked, checked, migrated and cleared in a work folder, whose name shows
 * servers and other restores that a restore is in progress, and then moved to the data folder. If an earlier step fails, the
 * data folder stays as it was. @throws BackupError, and errors of opening the domain.
 */
export async function restoreBackup(deps: RestoreDeps, request: RestoreRequest) {
  const { dataDir, keyring, signal } = deps;
  makeDataFolder(dataDir);
  refuseUnfinishedRestore(dataDir);
  const work = unfinishedRestorePath(dataDir);
  await makeFolder(work);
  const undoSteps: (() => Promise<void>)[] = [];
  try {
    refuseExistingData(deps);
    const keepOpen = request.livePushes === "keep_open";
    const unpackTo = { folder: work, blobs: keepOpen };
    const manifest = await readBackup(request.source, { keyring, unpackTo, signal });
    const unpacked = join(work, databaseName);
    if (keepOpen) await removeOrphans(work, manifest, unpacked);
    const pushesEnded = await migrateAndEnd(deps, unpacked, manifest, keepOpen);
    const cleared = clearTransientState(unpacked, { now: deps.now(), keepTokens: request.keepTokens });
    await syncFolders(work);
    signal.throwIfAborted();
    undoSteps.push(await moveBlobs(deps, work));
    undoSteps.push(await moveDatabase(unpacked, deps.databasePath));
    await removeWork(work);
    return { manifest, pushesEnded, cleared };
  } catch (error) {
    // The work folder goes last: it marks the data folder as incomplete.
    for (const undo of undoSteps.reverse()) await undo();
    await removeWork(work);
    throw error;
  }
}

/** @throws BackupError if there are data that the restore would replace or mix with. */
function refuseExistingData({ dataDir, databasePath }: RestoreDeps): void {
  for (const path of ["", "-wal", "-shm", "-journal"].map((suffix) => `${databasePath}${suffix}`)) {
    if (existsSync(path)) {
      throw new BackupError(`${path} exists already. Restore into an empty data folder: nothing is overwritten.`);
    }
  }
  const blobs = join(dataDir, blobsName);
  if (existsSync(blobs) && readdirSync(blobs).length > 0) {
    throw new BackupError(`${blobs} is not empty. Restore into an empty data folder: nothing is overwritten.`);
  }
}

/** Migrates the schema, ends the pushes that are not to stay open, and adds an entry to the administrators' audit trail. */
async function migrateAndEnd(
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

/** Removes blobs that no push of the restored database has: nothing would ever delete them. */
async function removeOrphans(work: string, manifest: Manifest, databasePath: string): Promise<void> {
  using copy = new DatabaseCopy(databasePath);
  const used = new Set([...allBlobs(copy)].map(({ blobKey }) => blobPathInBackup(blobKey)));
  for (const { path } of manifest.files) {
    if (path !== databaseName && !used.has(path)) await rm(join(work, path));
  }
}

/** The server expects the folder with its marker also if no blob was unpacked. @returns a function that removes them again. */
async function moveBlobs({ dataDir, remoteBlobs }: RestoreDeps, work: string): Promise<() => Promise<void>> {
  const from = join(work, blobsName);
  const to = join(dataDir, blobsName);
  if (remoteBlobs !== undefined) return existsSync(from) ? await writeBlobs(from, remoteBlobs) : async () => undefined;
  await markBlobFolder(from);
  // The operating system refuses to rename onto a folder that is not empty.
  await describeFailure(to, "created", () => rename(from, to));
  await syncPath(dataDir);
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

/** The last step: a server can start once it is done. @returns a function that removes the database again. */
async function moveDatabase(from: string, to: string): Promise<() => Promise<void>> {
  await describeFailure(dirname(to), "created", () => mkdir(dirname(to), { recursive: true, mode: 0o700 }));
  const undo = () => rm(to);
  try {
    await link(from, to);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "EEXIST") throw new BackupError(`${to} exists already, and nothing is overwritten.`);
    // On another disk, or on a file system without hard links.
    await copyInto(from, to);
  }
  await syncPath(dirname(to));
  return undo;
}

async function copyInto(from: string, to: string): Promise<void> {
  const draft = `${to}.partial`;
  try {
    await describeFailure(draft, "written", () => copyFile(from, draft));
    await syncPath(draft);
    await linkOrRename(draft, to);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Renames the work folder first: a complete data folder must not count as incomplete while its files are deleted. */
async function removeWork(work: string): Promise<void> {
  const old = `${work}.old`;
  await removeTree(old);
  if (!existsSync(work)) return;
  await rename(work, old);
  await syncPath(dirname(work));
  await removeTree(old);
}

const batchRows = 256;

/**
 * Ends live pushes as an administrator would: destroys secrets, queues files for deletion and adds an audit entry. Pushes whose
 * time is over end for that reason. @param which ids; null: all. @returns how many ended.
 */
async function endPushes(
  { store }: Pick<Domain, "store">,
  which: ReadonlySet<number> | null,
  now: number,
): Promise<number> {
  const end = async (pushId: number) =>
    (await store.end({ pushId, reason: "time", endedAt: now, blobsDueAt: 0, audit: null })) ||
    (await store.end({ pushId, reason: "administrator", endedAt: now, blobsDueAt: 0, audit: restoredAt(now) }));
  let ended = 0;
  for (let beforeId = Number.MAX_SAFE_INTEGER; ; ) {
    const batch = await store.adminLists.before(beforeId, batchRows);
    const last = batch.at(-1);
    if (last === undefined) return ended;
    const live = batch.filter((push) => push.endedAt === null && (which === null || which.has(push.id)));
    ended += (await Promise.all(live.map((push) => end(push.id)))).filter(Boolean).length;
    beforeId = last.id;
  }
}

function restoredAt(now: number): AuditRecord {
  return { kind: "expire", userId: null, address: "", userAgent: "sealpush restore", referrer: "", at: now };
}
