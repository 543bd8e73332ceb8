import { createHash } from "node:crypto";
import { constants, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { type Installation, SourceArgumentError, type SourceFile, SourceFileError } from "./source.ts";
import { systemReason } from "./system-reason.ts";

export type SourceFiles = ReturnType<typeof openSourceFiles>;

/** The keys of the source. They cannot contain a path. */
const keyShape = /^[0-9A-Za-z]{8,64}$/;
/** Services of the source that are folders. */
const diskServices: readonly string[] = ["local", "test"];
const chunkBytes = 256 * 1024;

/** @throws SourceArgumentError if the folder does not exist. */
export function openSourceFiles({ storageFolder: folder, objects }: Pick<Installation, "storageFolder" | "objects">) {
  if (folder !== undefined && statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new SourceArgumentError(`--storage names ${folder}, which is not a folder.`);
  }
  const isInStore = (service: string) => !diskServices.includes(service) && objects.has(service);

  function bytesOf({ service, key }: SourceFile, sizeBytes: number): AsyncIterable<Uint8Array> {
    // One byte more than on record, so that a longer object is detected.
    if (isInStore(service)) return objects.read(service, key, sizeBytes + 1);
    if (folder !== undefined) return diskBytes(folder, key);
    throw new SourceFileError(
      `It is in the service ${displayableService(service)}, whose folder or bucket is not known.`,
    );
  }

  return {
    /** The bytes, checked against size and checksum: an error may follow the last of them. @throws SourceFileError. */
    async *read(file: SourceFile): AsyncGenerator<Uint8Array> {
      const { sizeBytes } = file;
      if (!keyShape.test(file.key)) throw new SourceFileError("Its key in the store is invalid.");
      if (sizeBytes === null || sizeBytes < 0) throw new SourceFileError("Its size (byte_size) cannot be read.");
      yield* checked(bytesOf(file, sizeBytes), sizeBytes, file.checksum);
    },
    canRead: (service: string) => folder !== undefined || isInStore(service),
  };
}

/** For messages: text from the database is checked before it is shown. */
export function displayableService(service: string): string {
  return /^[a-z0-9_]{1,40}$/.test(service) ? service : "of unknown name";
}

async function* checked(chunks: AsyncIterable<Uint8Array>, sizeBytes: number, checksum: string | null) {
  const md5 = createHash("md5");
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > sizeBytes) throw new SourceFileError(`It has more than the recorded ${sizeBytes} bytes.`);
    md5.update(chunk);
    yield chunk;
  }
  if (bytes < sizeBytes) throw new SourceFileError(`It has ${bytes} of the recorded ${sizeBytes} bytes.`);
  if (checksum !== null && md5.digest("base64") !== checksum.trim()) {
    throw new SourceFileError("Its checksum differs from the recorded one.");
  }
}

async function* diskBytes(folder: string, key: string): AsyncGenerator<Uint8Array> {
  // Files that were downloaded from a bucket are in one folder.
  const paths = [join(folder, key.slice(0, 2), key.slice(2, 4), key), join(folder, key)];
  const handle = await openFirst(paths);
  try {
    if (!(await handle.stat()).isFile()) throw new SourceFileError("Its path is not a regular file.");
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw fileError(error);
  } finally {
    await handle.close();
  }
}

async function openFirst(paths: readonly string[]): Promise<FileHandle> {
  let missing: unknown;
  for (const path of paths) {
    try {
      // O_NONBLOCK: opening a pipe must not wait for a writer.
      return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      const code: unknown = Reflect.get(Object(error), "code");
      if (code !== "ENOENT" && code !== "ENOTDIR") throw fileError(error);
      missing = error;
    }
  }
  throw new SourceFileError("It is missing.", { cause: missing });
}

/** Any error but the operating system's is returned unchanged. */
function fileError(error: unknown): unknown {
  const reason = systemReason(error);
  return reason === undefined ? error : new SourceFileError(`It cannot be read (${reason}).`, { cause: error });
}
