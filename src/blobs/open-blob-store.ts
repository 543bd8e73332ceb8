import type { BlobStore } from "./blob-store.ts";
import { createFileBlobStore } from "./file-blob-store.ts";
import type { BucketDeps, BucketSettings } from "./s3/bucket.ts";

export interface BlobPlace {
  /** For blobs on this machine. */
  readonly directory: string;
  /** Given: the blobs lie there, and the folder is not looked at. */
  readonly s3: BucketSettings | undefined;
  /** Of the largest blob. */
  readonly blobBytesMax: number;
}

/** An object store's client is loaded where one is set: a server on its own disk goes without the memory. */
export async function openBlobStore(place: BlobPlace, deps: BucketDeps): Promise<BlobStore> {
  if (place.s3 === undefined) return createFileBlobStore(place.directory);
  const { createS3BlobStore } = await import("./s3-blob-store.ts");
  return createS3BlobStore({ ...place.s3, blobBytesMax: place.blobBytesMax }, deps);
}
