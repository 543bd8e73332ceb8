import { blobPath } from "../blob-key.ts";
import { BlobMissingError, type GrowingBlobs } from "../blob-store.ts";
import { type Bucket, textBody } from "./bucket.ts";
import { type BegunUpload, ObjectUpload } from "./object-upload.ts";
import { readObject } from "./read-object.ts";
import { deleteObject } from "./remove-object.ts";
import { S3Error } from "./s3-error.ts";

/** More than the tags of as many parts as S3 allows. */
const recordBytesMax = 1024 ** 2;
const lengthBytes = 4;

/** The object in which the progress of an unfinished blob is stored, as the file of one on disk is named. */
export function progressPath(path: string): string {
  return `${path}.part`;
}

/**
 * Blobs that are uploaded over several requests and processes. S3 cannot append to an object or read an unfinished multipart
 * upload. So a blob grows by parts of such an upload, and all that a later writer needs is in a second object beside it: the
 * bytes after the last part, then the record of the upload and its parts. The last byte completes the upload.
 */
export function createGrowingObjects(bucket: Bucket, partBytes: number): GrowingBlobs {
  return {
    bufferBytes: 2 * partBytes,
    // Time does not matter: each sync sends the bytes after the last part again, and just after a part they are few.
    syncEvery: { bytes: partBytes, ms: Number.POSITIVE_INFINITY },

    async append(key, position, length) {
      const path = blobPath(key);
      const begun = position === 0 ? undefined : await readProgress(bucket, path, partBytes);
      const upload = new ObjectUpload(bucket, path, partBytes, begun);
      if (upload.bytes !== position) throw missing();
      let hasProgress = position > 0;
      return {
        write: (chunk) => upload.add(chunk),
        async sync() {
          if (upload.bytes < length) {
            hasProgress = true;
            const content = await upload.begun((parts) => recordOf(partBytes, parts));
            const operation = { name: "PutObject", method: "PUT", path: progressPath(path), content } as const;
            await bucket.call(operation, (answer) => textBody(operation.name, answer));
            return;
          }
          await upload.finish();
          if (hasProgress) await deleteObject(bucket, progressPath(path));
        },
        close: () => upload.stop(),
      };
    },

    async *readUnfinished(key, range) {
      const path = blobPath(key);
      const begun = await readProgress(bucket, path, partBytes).catch(ifMissing);
      if (begun !== undefined && begun.uploadId === undefined) {
        yield begun.tail.subarray(range.start, range.end + 1);
        return;
      }
      // Parts can be read only after they were joined. Its writer cannot go on then.
      if (begun !== undefined) await new ObjectUpload(bucket, path, partBytes, begun).finish().catch(ifEnded);
      yield* readObject(bucket, path, range);
    },

    /** The last `sync` has done it. */
    async finish(key) {
      const firstByte = readObject(bucket, blobPath(key), { start: 0, end: 0 });
      await firstByte.next();
      await firstByte.return();
    },
  };
}

function missing(): BlobMissingError {
  return new BlobMissingError("The unfinished blob does not have the bytes that were acknowledged.");
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof BlobMissingError)) throw error;
}

/** The upload was completed before, or the store has removed it: then there is no object. */
function ifEnded(error: unknown): undefined {
  if (!(error instanceof S3Error && error.code === "NoSuchUpload")) throw error;
}

/** Lines: the size of a part, the id of the upload, the tags of its parts. At the end their length in bytes. */
function recordOf(partBytes: number, { uploadId = "", entityTags }: Omit<BegunUpload, "tail">): Buffer {
  const lines = Buffer.from([partBytes, uploadId, ...entityTags].join("\n"));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(lines.length);
  return Buffer.concat([lines, length]);
}

/** @throws BlobMissingError: there is none, or none for parts of this size. */
async function readProgress(bucket: Bucket, path: string, partBytes: number): Promise<BegunUpload> {
  const range = { start: 0, end: partBytes + recordBytesMax - 1 };
  const chunks: Buffer[] = [];
  for await (const chunk of readObject(bucket, progressPath(path), range)) chunks.push(chunk);
  const stored = Buffer.concat(chunks);
  const recordEnd = stored.length - lengthBytes;
  const tailBytes = recordEnd < 0 ? -1 : recordEnd - stored.readUInt32BE(recordEnd);
  if (tailBytes < 0 || tailBytes > partBytes) throw missing();
  const [size, uploadId = "", ...entityTags] = stored.toString("utf8", tailBytes, recordEnd).split("\n");
  if (size !== String(partBytes)) throw missing();
  return { uploadId: uploadId === "" ? undefined : uploadId, entityTags, tail: stored.subarray(0, tailBytes) };
}
