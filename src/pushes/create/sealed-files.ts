import { ageBeginningBytes, beginsAsAgeFile } from "@sealpush/age/age-header";
import type { FieldProblems } from "../../base/errors.ts";
import { fileRefusal, readStoredFile } from "../claim/stored-files.ts";
import type { PushDeps } from "../deps.ts";
import type { CreatePush } from "../push.ts";
import { type UploadedFile, unusableFiles } from "./received-files.ts";
import type { PendingUpload } from "./upload.ts";

/**
 * The files of an end-to-end push must be sealed when they arrive: a sender who forgets it would hand the server what it must
 * not see. They are read again from the store, because a form may name the encryption after its files.
 * @throws AppError unavailable.
 */
export async function findUnsealedFiles(
  { blobs }: PushDeps,
  { encryption }: Pick<CreatePush, "encryption">,
  upload: PendingUpload,
): Promise<FieldProblems> {
  if (encryption === undefined) return {};
  for (const file of upload.files) {
    if (!(await isAgeFile(blobs, file))) return { files: [unusableFiles.unsealed] };
  }
  return {};
}

/** No push has the file yet, so errors name none. */
const noPushId = 0;

async function isAgeFile(blobs: PushDeps["blobs"], { key, ...row }: UploadedFile): Promise<boolean> {
  if (row.sizeBytes < ageBeginningBytes) return false;
  const range = { start: 0, end: ageBeginningBytes - 1 };
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of readStoredFile(blobs, { pushId: noPushId, row, key }, range)) chunks.push(chunk);
  } catch (error) {
    throw fileRefusal(error);
  }
  return beginsAsAgeFile(Buffer.concat(chunks).toString("latin1"));
}
