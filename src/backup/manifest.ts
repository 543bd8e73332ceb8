import { hash } from "node:crypto";
import { isFields, parseJson } from "../base/json.ts";
import { blobPath } from "../blobs/blob-key.ts";
import { equalDigests } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { BackupError } from "./durable-files.ts";

/** A file of a backup: its path in it, its length and the SHA-256 of its bytes in hex. */
export interface BackupFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface BackupCounts {
  readonly pushes: number;
  readonly livePushes: number;
  /** Files of live pushes. */
  readonly files: number;
  readonly users: number;
}

/** Describes a backup. It is written last, so a backup without a manifest is incomplete. */
export interface Manifest {
  /** Schema version of the copied database. */
  readonly schemaVersion: number;
  readonly applicationVersion: string;
  /** When the database was copied, ms since the epoch. */
  readonly createdAt: number;
  /** Ids of the master keys that the rows and the manifest are sealed under. */
  readonly keyIds: readonly string[];
  readonly counts: BackupCounts;
  /** Live pushes with a file that was missing or incomplete in the store. A restore ends them. */
  readonly pushesWithoutFiles: readonly number[];
  readonly files: readonly BackupFile[];
}

export const databaseName = "sealpush.sqlite3";
export const manifestName = "manifest.json";
/** Holds SHA-256 of the manifest, sealed under the active master key, in base64. */
export const sealName = "manifest.seal";
export const blobsName = "blobs";

export const manifestBytesMax = 256 * 1024 * 1024;
export const sealBytesMax = 1024;

const format = "sealpush-backup";
const formatVersion = 1;
const blobPathShape = /^blobs\/([0-9a-f]{2})\/(\1[0-9a-f]{30})$/;

export function blobPathInBackup(key: string): string {
  return `${blobsName}/${blobPath(key)}`;
}

/** undefined for other paths. */
export function blobKeyOf(path: string): string | undefined {
  return blobPathShape.exec(path)?.[2];
}

export function writeManifest(manifest: Manifest): Buffer {
  const { counts } = manifest;
  const value = {
    format,
    format_version: formatVersion,
    created_at: new Date(manifest.createdAt).toISOString(),
    application_version: manifest.applicationVersion,
    schema_version: manifest.schemaVersion,
    key_ids: manifest.keyIds,
    counts: { pushes: counts.pushes, live_pushes: counts.livePushes, files: counts.files, users: counts.users },
    pushes_without_files: manifest.pushesWithoutFiles,
    files: manifest.files,
  };
  return Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`, "utf8");
}

/** @throws BackupError for text that `writeManifest` did not write, or of another format version. */
export function readManifest(text: Uint8Array): Manifest {
  const parsed = parseJson(Buffer.from(text).toString("utf8"));
  if (parsed === undefined) throw broken("it is not JSON");
  const value = objectOf(parsed);
  if (value.format !== format) throw broken("it is not the manifest of a Sealpush backup");
  if (value.format_version !== formatVersion) {
    throw new BackupError("The backup has another format: use the version of Sealpush that made it.");
  }
  const counts = objectOf(value.counts);
  const files = listOf(value.files).map(fileOf);
  if (new Set(files.map((file) => file.path)).size !== files.length) throw broken("it names a file twice");
  if (!files.some((file) => file.path === databaseName)) throw broken("it names no database");
  return {
    schemaVersion: countOf(value.schema_version),
    applicationVersion: textOf(value.application_version),
    createdAt: timeOf(value.created_at),
    keyIds: listOf(value.key_ids).map(textOf),
    counts: {
      pushes: countOf(counts.pushes),
      livePushes: countOf(counts.live_pushes),
      files: countOf(counts.files),
      users: countOf(counts.users),
    },
    pushesWithoutFiles: listOf(value.pushes_without_files).map(countOf),
    files,
  };
}

/**
 * Checksums detect damage but not manipulation: somebody who can write to the backup could replace the database and its
 * checksum, and become an administrator at the next restore. The seal needs the master key.
 */
export function sealManifest(keyring: Keyring, manifest: Uint8Array): string {
  return `${keyring.sealMessage("backup manifest", [], hash("sha256", manifest, "buffer")).toString("base64")}\n`;
}

/** @throws BackupError if the seal does not open, or belongs to another manifest. */
export function assertSealed(keyring: Keyring, manifest: Uint8Array, seal: string): void {
  const sealed = keyring.openMessage("backup manifest", [], Buffer.from(seal, "base64"));
  if (sealed !== undefined && equalDigests(sealed, hash("sha256", manifest, "buffer"))) return;
  throw new BackupError("The manifest of the backup was changed after the backup was made.");
}

function fileOf(value: unknown): BackupFile {
  const { path, bytes, sha256 } = objectOf(value);
  const file = { path: textOf(path), bytes: countOf(bytes), sha256: textOf(sha256) };
  if (file.path !== databaseName && blobKeyOf(file.path) === undefined) throw broken("it names a file of another kind");
  if (!/^[0-9a-f]{64}$/.test(file.sha256)) throw broken("a checksum in it is invalid");
  return file;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isFields(value)) throw broken("a part of it is missing");
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw broken("a list in it is missing");
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== "string" || value.length > 1_024) throw broken("a text in it is missing");
  return value;
}

function countOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw broken("a number in it is missing");
  return value;
}

function timeOf(value: unknown): number {
  const time = Date.parse(textOf(value));
  if (Number.isNaN(time)) throw broken("it does not say when it was written");
  return time;
}

function broken(reason: string): BackupError {
  return new BackupError(`The manifest of the backup cannot be used: ${reason}.`);
}
