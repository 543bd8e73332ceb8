import { type Bucket, textBody } from "./bucket.ts";
import { refusal, S3Error } from "./s3-error.ts";
import { elementsOf, textOf } from "./xml.ts";

const listsMax = 10;

/**
 * Aborts unfinished uploads under the path, then deletes the object. The order matters: an upload that is just being
 * completed could restore the object. Running it twice is harmless.
 */
export async function removeObject(bucket: Bucket, path: string, attemptsMax?: number): Promise<void> {
  const tries = attemptsMax === undefined ? {} : { attemptsMax };
  await endUploads(bucket, path, tries);
  await deleteObject(bucket, path, tries);
}

export async function deleteObject(
  bucket: Bucket,
  path: string,
  tries: { readonly attemptsMax?: number } = {},
): Promise<void> {
  await bucket.call(
    { name: "DeleteObject", method: "DELETE", path, expected: [204, 404], ...tries },
    async (answer) => {
      const body = await textBody("DeleteObject", answer);
      // A missing bucket would confirm every deletion.
      if (answer.status === 404 && textOf(body, "Code") === "NoSuchBucket")
        throw refusal("DeleteObject", 404, "NoSuchBucket");
    },
  );
}

/** A part that arrives while its upload is being aborted can outlive it, so the list is read until it is empty. */
async function endUploads(bucket: Bucket, path: string, tries: { readonly attemptsMax?: number }): Promise<void> {
  for (let lists = 0; lists < listsMax; lists += 1) {
    const uploadIds = await unfinishedUploads(bucket, path, tries);
    if (uploadIds.length === 0) return;
    for (const uploadId of uploadIds) {
      const query = { uploadId };
      await bucket.call(
        { name: "AbortMultipartUpload", method: "DELETE", path, query, expected: [204, 404], ...tries },
        (answer) => textBody("AbortMultipartUpload", answer),
      );
    }
  }
  throw new S3Error("The object store lists unfinished uploads that it had confirmed to have ended.", "UploadsRemain", {
    passing: true,
  });
}

/** Empty if the store keeps no list (501): such a store has to remove unfinished uploads itself. */
async function unfinishedUploads(
  bucket: Bucket,
  path: string,
  tries: { readonly attemptsMax?: number },
): Promise<string[]> {
  const name = "ListMultipartUploads";
  const query = { uploads: "", prefix: path };
  return await bucket.call({ name, method: "GET", query, expected: [501], ...tries }, async (answer) => {
    const body = await textBody(name, answer);
    if (answer.status === 501) return [];
    return elementsOf(body, "Upload").flatMap((upload) =>
      textOf(upload, "Key") === path ? (textOf(upload, "UploadId") ?? []) : [],
    );
  });
}
