import { blobPath } from "./blob-key.ts";
import type { BlobStore } from "./blob-store.ts";
import { type BucketDeps, type BucketSettings, createBucket, defaultPatience, type Patience } from "./s3/bucket.ts";
import { createGrowingObjects, progressPath } from "./s3/growing-objects.ts";
import { ObjectUpload, partBytesMin, partsMax } from "./s3/object-upload.ts";
import { readObject } from "./s3/read-object.ts";
import { deleteObject, removeObject } from "./s3/remove-object.ts";

const mebibyte = 1024 ** 2;

/** The smallest part size, in whole MiB, with which a blob of this size does not exceed S3's number of parts. */
export function partBytesFor(blobBytesMax: number): number {
  return Math.max(partBytesMin, Math.ceil(blobBytesMax / partsMax / mebibyte) * mebibyte);
}

/**
 * Blobs as objects of an S3 bucket, at the `blobPath` of their key. There is no prefix, so each installation needs its own
 * bucket. @param blobBytesMax the size of the largest blob; it determines the part size.
 */
export function createS3BlobStore(
  settings: BucketSettings & { readonly blobBytesMax: number },
  deps: BucketDeps,
  patience: Patience = defaultPatience,
): BlobStore {
  const bucket = createBucket(settings, deps, patience);
  const partBytes = partBytesFor(settings.blobBytesMax);
  return {
    growing: createGrowingObjects(bucket, partBytes),

    async write(key, content) {
      const upload = new ObjectUpload(bucket, blobPath(key), partBytes);
      try {
        for await (const chunk of content) await upload.add(chunk);
        return await upload.finish();
      } catch (error) {
        // Remains that cannot be removed now are under a recorded key, which the caller deletes.
        await upload.discard();
        throw error;
      }
    },

    async *read(key, range, signal) {
      const path = blobPath(key);
      if (range.end >= range.start) yield* readObject(bucket, path, range, signal);
    },

    async delete(key) {
      const path = blobPath(key);
      await removeObject(bucket, path);
      await deleteObject(bucket, progressPath(path));
    },
  };
}
