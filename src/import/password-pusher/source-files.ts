import { createHash } from "node:crypto";
import { constants, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { BlobMissingError, BlobStoreError } from "../../blobs/blob-store.ts";
import type { Bucket, BucketDeps, BucketSettings } from "../../blobs/s3/bucket.ts";
import { systemErrorCode } from "../../config/system-error.ts";
import { SourceArgumentError, type SourceFile, SourceFileError } from "../source.ts";
import type { StoragePlaces } from "./storage-address.ts";

export interface SourceFiles {
  /** The bytes as they lie there, checked by size and sum: an error may come after the last of them. */
  read(file: SourceFile): AsyncIterable<Uint8Array>;
  /** Whether files of this service can be asked for at all. */
  reaches(service: string): boolean;
}

type SizedFile = SourceFile & { readonly sizeBytes: number };

/** The shape that the source makes keys of: nothing in it can lead out of a folder. */
const keyShape = /^[0-9A-Za-z]{8,64}$/;
/** Names of the source's services that are a folder. */
const diskServices: readonly string[] = ["local", "test"];
const chunkBytes = 256 * 1024;

/** @throws SourceArgumentError when the folder is none. */
export function openSourceFiles(places: StoragePlaces, deps: BucketDeps): SourceFiles {
  const { folder, buckets } = places;
  if (folder !== undefined && statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new SourceArgumentError(`--storage names ${folder}, which is no folder.`);
  }
  const opened = new Map<string, Promise<Bucket>>();
  const bucketOf = (service: string) => {
    const settings = diskServices.includes(service) ? undefined : (buckets.get(service) ?? buckets.get(""));
    if (settings === undefined) return undefined;
    const bucket = opened.get(service) ?? openBucket(settings, deps);
    opened.set(service, bucket);
    return bucket;
  };

  async function* bytesOf(file: SizedFile): AsyncGenerator<Uint8Array, void, undefined> {
    const bucket = bucketOf(file.service);
    if (bucket !== undefined) yield* objectBytes(await bucket, file);
    else if (folder !== undefined) yield* diskBytes(folder, file);
    else throw new SourceFileError(`It lies in the service ${named(file.service)}, which --storage does not name.`);
  }

  return {
    async *read(file) {
      const { sizeBytes } = file;
      if (!keyShape.test(file.key)) throw new SourceFileError("Its key in the store has a shape that no key has.");
      if (sizeBytes === null || sizeBytes < 0) throw new SourceFileError("How large it is (byte_size) cannot be read.");
      const sized = { ...file, sizeBytes };
      yield* checked(sized, bytesOf(sized));
    },
    reaches: (service) =>
      folder !== undefined || (!diskServices.includes(service) && (buckets.has(service) || buckets.has(""))),
  };
}

/** What a database says is not shown as it is. */
export function named(service: string): string {
  return /^[a-z0-9_]{1,40}$/.test(service) ? service : "of an unknown name";
}

async function* checked(file: SizedFile, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const md5 = createHash("md5");
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > file.sizeBytes) throw new SourceFileError(`It has more than the ${file.sizeBytes} bytes on record.`);
    md5.update(chunk);
    yield chunk;
  }
  if (bytes < file.sizeBytes) throw new SourceFileError(`It has ${bytes} bytes of the ${file.sizeBytes} on record.`);
  if (file.checksum !== null && md5.digest("base64") !== file.checksum.trim()) {
    throw new SourceFileError("Its bytes are not those on record: the checksum is another.");
  }
}

async function* diskBytes(folder: string, { key }: SourceFile): AsyncGenerator<Uint8Array> {
  // Files that were fetched from a bucket lie flat.
  const paths = [join(folder, key.slice(0, 2), key.slice(2, 4), key), join(folder, key)];
  const handle = await openFirst(paths);
  try {
    if (!(await handle.stat()).isFile()) throw new SourceFileError("What lies in its place is no file.");
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw systemErrorCode(error) === undefined ? error : fileError(error);
  } finally {
    await handle.close();
  }
}

async function openFirst(paths: readonly string[]): Promise<FileHandle> {
  let missing: unknown;
  for (const path of paths) {
    try {
      // Not waiting for a writer, should it be a pipe.
      return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === undefined) throw error;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw fileError(error);
      missing = error;
    }
  }
  throw new SourceFileError("It is not there.", { cause: missing });
}

function fileError(error: unknown): SourceFileError {
  return new SourceFileError(`It cannot be read (${systemErrorCode(error)}).`, { cause: error });
}

/** Loaded where one is named: most installations keep their files on a disk. */
async function openBucket(settings: BucketSettings, deps: BucketDeps): Promise<Bucket> {
  const { createBucket, defaultPatience } = await import("../../blobs/s3/bucket.ts");
  return createBucket(settings, deps, defaultPatience);
}

async function* objectBytes(bucket: Bucket, { key, sizeBytes }: SizedFile): AsyncGenerator<Uint8Array> {
  const { readObject } = await import("../../blobs/s3/read-object.ts");
  try {
    // One byte more than there should be: a longer object tells so.
    yield* readObject(bucket, key, { start: 0, end: sizeBytes });
  } catch (error) {
    if (error instanceof BlobMissingError) throw new SourceFileError("It is not there.", { cause: error });
    throw error instanceof BlobStoreError ? new SourceFileError(error.message, { cause: error }) : error;
  }
}
