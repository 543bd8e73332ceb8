import { blobPath } from "../blob-key.ts";
import {
  type Bucket,
  type BucketDeps,
  type BucketSettings,
  createBucket,
  defaultPatience,
  textBody,
} from "./bucket.ts";
import { contentOf } from "./content.ts";
import { readObject } from "./read-object.ts";
import { removeObject } from "./remove-object.ts";
import { brokenAnswer, S3Error } from "./s3-error.ts";
import { textOf } from "./xml.ts";

const probeBytes = 4_096;

/**
 * Tests every operation that the server needs with one object, and removes it.
 * @returns `versioned`: deleted objects remain as older versions; `endsUploads`: unfinished uploads can be listed and aborted.
 * @throws S3Error when an operation is not allowed.
 */
export async function probeBucket(settings: BucketSettings, deps: BucketDeps) {
  const bucket = createBucket(settings, deps, defaultPatience);
  const path = blobPath(deps.random.bytes(16).toString("hex"));
  const bytes = deps.random.bytes(probeBytes);
  const put = { name: "PutObject", method: "PUT", path, content: contentOf(bytes) } as const;
  const versioned = await bucket.call(put, async (answer) => {
    await textBody(put.name, answer);
    return (answer.header("x-amz-version-id") ?? "null") !== "null";
  });
  try {
    const parts: Buffer[] = [];
    for await (const part of readObject(bucket, path, { start: 0, end: probeBytes - 1 })) parts.push(part);
    if (!Buffer.concat(parts).equals(bytes)) throw brokenAnswer("GetObject", "holds other bytes than were stored");
    return { versioned, endsUploads: await endsUploads(bucket, path) };
  } finally {
    await removeObject(bucket, path);
  }
}

async function endsUploads(bucket: Bucket, path: string): Promise<boolean> {
  const create = { name: "CreateMultipartUpload", method: "POST", path, query: { uploads: "" } } as const;
  const uploadId = await bucket.call(create, async (answer) => textOf(await textBody(create.name, answer), "UploadId"));
  if (uploadId === undefined) throw brokenAnswer(create.name, "has no UploadId");
  try {
    await bucket.call(
      { name: "AbortMultipartUpload", method: "DELETE", path, query: { uploadId }, expected: [204] },
      (answer) => textBody("AbortMultipartUpload", answer),
    );
    const list = { name: "ListMultipartUploads", method: "GET", query: { uploads: "", prefix: path } } as const;
    await bucket.call(list, (answer) => textBody(list.name, answer));
    return true;
  } catch (error) {
    if (error instanceof S3Error && (error.status === 501 || error.status === 405)) return false;
    throw error;
  }
}
