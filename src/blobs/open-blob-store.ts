import type { BlobStore } from "./blob-store.ts";
import { createFileBlobStore, type FileBlobStoreDeps } from "./file-blob-store.ts";
import type { BucketDeps, BucketSettings } from "./s3/bucket.ts";

export interface BlobLocation {
  /** For blobs on this machine. */
  readonly directory: string;
  /** If given, blobs are in this bucket and the folder is not used. */
  readonly s3: BucketSettings | undefined;
  /** The size of the largest blob. */
  readonly blobBytesMax: number;
}

/** The client of the object store is loaded on demand: a server that uses its own disk saves the memory. */
export async function openBlobStore(location: BlobLocation, deps: BucketDeps & FileBlobStoreDeps): Promise<BlobStore> {
  if (location.s3 === undefined) return createFileBlobStore(location.directory, deps);
  const { createS3BlobStore } = await import("./s3-blob-store.ts");
  return createS3BlobStore({ ...location.s3, blobBytesMax: location.blobBytesMax }, deps);
}
