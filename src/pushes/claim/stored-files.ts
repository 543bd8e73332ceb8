import { secondMs } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import { createFairQueue, type FairQueueLimits } from "../../base/fair-queue.ts";
import { BlobMissingError, type BlobStore, BlobStoreError } from "../../blobs/blob-store.ts";
import { openStream, SealBrokenError, sealedLength, segmentBytes } from "../../crypto/stream-seal.ts";
import { fileContentContext } from "../seals.ts";
import type { FileRow } from "../store/tables.ts";

/** The store has lost a file, or has other bytes than were sealed. The ids, those of the database, are for the operator. */
export class StoredFileError extends Error {
  override readonly name = "StoredFileError";
  readonly problem: "missing" | "damaged";
  readonly pushId: number;
  readonly fileId: number;

  constructor(problem: "missing" | "damaged", { pushId, fileId }: { pushId: number; fileId: number }, cause: unknown) {
    super(`The store's copy of a file is ${problem}.`, { cause });
    this.problem = problem;
    this.pushId = pushId;
    this.fileId = fileId;
  }
}

type ReadableBlobs = Pick<BlobStore, "read">;

export interface StoredFile {
  readonly pushId: number;
  readonly row: Pick<FileRow, "id" | "blobKey" | "sizeBytes">;
  readonly key: Buffer;
}

/**
 * Plaintext bytes of a file, inclusive at both ends; each segment is verified first.
 * @throws BlobStoreError when the store does not answer; StoredFileError.
 */
export async function* readStoredFile(
  blobs: ReadableBlobs,
  { pushId, row, key }: StoredFile,
  range: { readonly start: number; readonly end: number },
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const { id: fileId, blobKey, sizeBytes } = row;
  const lastSealed = sealedLength(sizeBytes) - 1;
  const read = ({ start, end }: { start: number; end: number }) =>
    blobs.read(blobKey, { start, end: Math.min(end, lastSealed) }, signal);
  try {
    yield* openStream(key, fileContentContext(fileId), { plaintextBytes: sizeBytes, range, read });
  } catch (error) {
    if (error instanceof BlobMissingError) throw new StoredFileError("missing", { pushId, fileId }, error);
    if (error instanceof SealBrokenError) throw new StoredFileError("damaged", { pushId, fileId }, error);
    throw error;
  }
}

/** A damaged copy may have been damaged on its way, and an operator can restore one: both are worth another try. */
const retryAfterSeconds = 60;

/** The refusal for a file that cannot be read now. All other errors are returned unchanged. */
export function fileRefusal(error: unknown): unknown {
  const unreadable = error instanceof BlobStoreError || error instanceof StoredFileError;
  return unreadable ? unavailable("The storage cannot give files now.", retryAfterSeconds, error) : error;
}

/** Each retrieval holds `filesAtOnce` connections to the store, and one segment for each. */
const openingLimits: FairQueueLimits = { runningMax: 16, waitingMax: 256, waitingPerClientMax: 32 };
const filesAtOnce = 4;
/** Covers all files of a push and the wait in the queue. Four attempts at a store that answers with errors take two seconds. */
const openMs = 10 * secondMs;

export type FileOpener = ReturnType<typeof createFileOpener>;

/**
 * Reads and verifies the first segment of each file. A claim does this before it counts a view, so that no view is spent
 * while the store cannot deliver the files. It is bounded in time, per client and in all.
 * @param abortAfter a signal that is aborted after `ms`.
 * @returns a function that throws BlobStoreError, StoredFileError, or AppError `unavailable` when too many wait.
 */
export function createFileOpener(blobs: ReadableBlobs, abortAfter: (ms: number) => AbortSignal) {
  const queue = createFairQueue(openingLimits, "Too many files are being opened right now. Try again in a moment.");

  async function openFirstSegment(file: StoredFile, signal: AbortSignal): Promise<void> {
    const range = { start: 0, end: Math.min(file.row.sizeBytes, segmentBytes) - 1 };
    const segment = readStoredFile(blobs, file, range, signal);
    while ((await segment.next()).done !== true);
  }

  return async (files: readonly StoredFile[], client: string): Promise<void> => {
    const deadline = abortAfter(openMs);
    await queue.run(client, async () => {
      const failed = new AbortController();
      const signal = AbortSignal.any([deadline, failed.signal]);
      const waiting = files.values();
      const openNext = async () => {
        for (const file of waiting) await openFirstSegment(file, signal);
      };
      try {
        await Promise.all(Array.from({ length: filesAtOnce }, openNext));
      } finally {
        failed.abort();
      }
    });
  };
}
