import { createHash } from "node:crypto";
import type { ImportSource, SourceFile, SourcePush } from "@sealpush/import-password-pusher";
import { BlobStoreError } from "../blobs/blob-store.ts";
import { spellingsOf } from "../crypto/passphrase.ts";
import type { PushKey } from "../crypto/push-key.ts";
import { readStoredFile, type StoredFile, StoredFileError } from "../pushes/claim/stored-files.ts";
import { expiryOf } from "../pushes/create/adopt-push.ts";
import { hasEnded, openLink, tombstoneMs } from "../pushes/present-push.ts";
import { openFileDetails, openFileKey, openPayload, openPushKey } from "../pushes/seals.ts";
import { findFilesOf, findPushById } from "../pushes/store/push-store.ts";
import { type FileRow, type PushRow, pushes, rowSecrets, type SealedPush } from "../pushes/store/tables.ts";
import { findSealedPush } from "../pushes/store/write-view.ts";
import { findStoredLinkKey } from "../pushes/stored-link-keys.ts";
import { isSourceFileError, partNames } from "./source-values.ts";
import { findChanges, type ImportedRow } from "./store/imported-rows.ts";
import { type StoredImport, Verdict } from "./stored-import.ts";

interface Compared {
  readonly here: StoredImport;
  readonly source: Pick<ImportSource, "readFile">;
  readonly push: SourcePush;
  /** The number of entries in its audit trail at the source. */
  readonly eventsThere: number;
  readonly imported: ImportedRow;
  /** undefined: it has no owner, or one who is not in the source. */
  readonly owner: ImportedRow | undefined;
  readonly now: number;
}

/** A push of the source that is here. */
interface Comparison extends Compared {
  readonly sealed: SealedPush;
  readonly row: PushRow;
  /** Then content and limits differ, and are not compared. */
  readonly isEdited: boolean;
  readonly verdict: Verdict;
}

const readsMax = 3;
/** The client name in the Argon2 queue. */
const client = "verification";

/**
 * Opens an imported push with the source's link and passphrase, and compares it with the source's. Nothing is written, so no
 * view is counted.
 */
export async function verifyPush(compared: Compared): Promise<Verdict> {
  const link = compared.here.urlTokens.addressOf(compared.push.urlToken);
  for (let reads = 1; ; reads += 1) {
    const { read } = compared.here;
    const sealed = await findSealedPush(read, read, link, () => undefined);
    const verdict = await compare(compared, sealed);
    // Somebody may view, edit or delete the push during the comparison.
    if (verdict.failures.length === 0 || reads === readsMax || !(await hasChanged(compared, sealed?.row))) {
      return verdict;
    }
  }
}

async function hasChanged({ here, imported }: Compared, row: PushRow | undefined): Promise<boolean> {
  const current = await findPushById(here.read, imported.id);
  return current?.updatedAt !== row?.updatedAt || current?.endedAt !== row?.endedAt;
}

async function compare(compared: Compared, sealed: SealedPush | undefined): Promise<Verdict> {
  const { here, push, eventsThere, imported, owner, now } = compared;
  if (sealed === undefined) return await explainMissing(compared);
  const verdict = new Verdict();
  const { row } = sealed;
  for (const part of imported.missingParts) verdict.fail(`It was imported without ${partNames[part]}.`);
  if (row.id !== imported.id) return verdict.fail("Its link leads to another push here.");
  // The pushes of a deleted account end, and lose their owner, until they are deleted.
  if (owner?.accountExists === false && row.ownerId === null && row.endedAt !== null) return Verdict.notNeeded();
  if (row.ownerId !== (owner?.id ?? null)) return verdict.fail("It does not belong to the account of its owner here.");
  const { isTouched, hasEdits } = await findChanges(here.read, imported);
  const isEdited = hasEdits && row.endedAt === null;
  const comparison = { ...compared, sealed, row, isEdited, verdict };
  await compareLabels(comparison);
  if (hasEnded(row, now)) {
    verdict.state = "ended";
    return verdict;
  }
  if (push.open === null) {
    // Otherwise somebody ended it, or it was viewed to its limit.
    const onlyItsTimeHasPassed = push.end?.reason === "time" && push.end.at >= expiryOf(push);
    if (!isEdited || !onlyItsTimeHasPassed) {
      return verdict.fail("It has ended at the source and can still be opened here.");
    }
    verdict.change("Its time has passed at the source, and it was given more time here.");
  }
  const eventsSince = eventsThere - imported.related.auditEntries;
  if (isTouched && eventsSince > 0) {
    verdict.fail(
      `Its audit trail at the source has more entries than were imported (${eventsSince}): views among them do not count here.`,
    );
  }
  if (isEdited) verdict.change("It was edited here, so its content and limits are not compared.");
  else compareLimits(comparison);
  await compareContent(comparison);
  return verdict;
}

/** No push here is found by the link. */
async function explainMissing({ here, push, imported, owner, now }: Compared): Promise<Verdict> {
  const keptMs = push.userId === null ? tombstoneMs : here.purgeAfterMs;
  const isDue = push.end !== null && keptMs !== undefined && push.end.at + keptMs <= now;
  // The missing account itself is reported.
  if (isDue || owner?.accountExists === false) return Verdict.notNeeded();
  const row = await findPushById(here.read, imported.id);
  return new Verdict().fail(
    row === undefined ? "It is not here any more." : "It is here, but its link does not find it.",
  );
}

/** What only the owner sees: the link in the lists, the name and the note. */
async function compareLabels({ here, push, imported, row, isEdited, verdict }: Comparison): Promise<void> {
  const { keyring, read, access, ownerCheckOf } = here;
  if (row.ownerId === null) return;
  const storedLinkKey = await findStoredLinkKey(read, keyring, row.ownerId);
  const link = openLink(row, { keyring, access, ownerCheckOf, storedLinkKey });
  if (link === "not_stored") verdict.change("Its owner's lists show no link of it here.");
  else if (link?.link !== push.urlToken) verdict.fail("Its owner's lists cannot show its link.");
  const open = (column: "name" | "note", sealed: Buffer | null) =>
    sealed === null ? "" : keyring.open(pushes.seals[column], row, sealed)?.toString("utf8");
  const labels = [
    ["name", open("name", row.nameSealed), push.name],
    ["note", open("note", row.noteSealed), imported.missingParts.includes("note") ? "" : push.note],
  ] as const;
  for (const [label, opened, there] of labels) {
    if (opened === undefined) verdict.fail(`Its ${label} does not open.`);
    else if (!isEdited && row.endedAt === null && opened !== (there ?? "")) {
      verdict.fail(`Its ${label} differs from the source's.`);
    }
  }
}

/** Everything that a stranger may do here must be allowed at the source, too. */
function compareLimits({ push, row, verdict }: Comparison): void {
  const [viewsHere, viewsThere] = [row.expireAfterViews - row.views, push.expireAfterViews - push.countedViews];
  if (viewsHere > viewsThere) {
    verdict.fail(`It allows ${viewsHere} more views here, and ${viewsThere} at the source.`);
  }
  const expiry = expiryOf(push);
  if (row.expiresAt > expiry) {
    const [here, there] = [row.expiresAt, expiry].map((time) => new Date(time).toISOString());
    verdict.fail(`It expires at ${here} here, and at ${there} at the source.`);
  }
  if (row.deletableByViewer && !push.deletableByViewer) {
    verdict.fail("Viewers may delete it here, unlike at the source.");
  }
  if (!row.retrievalStep && push.retrievalStep) verdict.fail("It has no retrieval step here, unlike at the source.");
}

async function compareContent(comparison: Comparison): Promise<void> {
  const { here, push, sealed, row, isEdited, verdict } = comparison;
  const { passphraseSalt } = row;
  const passphrase = push.open?.passphrase ?? "";
  if (!isEdited && (passphraseSalt === null) !== (passphrase === "")) {
    verdict.fail(`It has ${passphraseSalt === null ? "no" : "a"} passphrase here, unlike at the source.`);
    return;
  }
  const opened = await openWithSource(comparison, passphrase);
  if (opened.outcome === "wrong_link" && isEdited && passphraseSalt !== null) {
    verdict.change("Its passphrase here is not the source's, so it could not be opened.");
    return;
  }
  if (opened.outcome !== "opened" || sealed.payloadSealed === null) {
    verdict.fail(`Its ${opened.outcome === "opened" ? "payload is missing" : "key does not open with its link"}.`);
    return;
  }
  const files = await findFilesOf(here.read, row.id);
  const payload = openPayload(opened.key, row, files, sealed.payloadSealed);
  if (payload === undefined) verdict.fail("Its payload does not open: it was damaged, or one of its files is lost.");
  else if (!isEdited && payload !== push.open?.payload) verdict.fail("Its payload differs from the source's.");
  await compareFiles(comparison, opened.key, files);
}

/** By the link and the passphrase of the source. */
async function openWithSource(
  { here, push: { urlToken }, row, sealed: { rowSecretSealed } }: Comparison,
  passphrase: string,
): Promise<ReturnType<typeof openPushKey>> {
  const { passphraseSalt } = row;
  const rowSecret = rowSecretSealed && here.keyring.open(rowSecrets.seals.rowSecret, row, rowSecretSealed);
  const openWith = (passphraseHash: Buffer | undefined) =>
    openPushKey(row, rowSecret ?? undefined, { urlToken, passphraseHash });
  if (passphraseSalt === null) return openWith(undefined);
  const [composed, ...others] = spellingsOf(passphrase);
  const hashOf = (spelling: string) => here.argon2.deriveKey(spelling, passphraseSalt, client);
  let opened = openWith(await hashOf(composed));
  for (const spelling of others) if (opened.outcome === "wrong_link") opened = openWith(await hashOf(spelling));
  return opened;
}

async function compareFiles(comparison: Comparison, pushKey: PushKey, files: readonly FileRow[]): Promise<void> {
  const { push, imported, row, isEdited, verdict } = comparison;
  // Without the lost files, the others cannot be assigned to those of the source: they are only opened.
  const isComparable = !isEdited && !imported.missingParts.includes("files");
  const filesThere = isComparable ? (push.open?.files ?? []) : [];
  if (isComparable && files.length !== filesThere.length) {
    verdict.fail(`It has ${files.length} files here, and ${filesThere.length} at the source.`);
    return;
  }
  for (const [at, file] of files.entries()) {
    const key = openFileKey(pushKey, row, file);
    const problem =
      key === undefined
        ? "does not open."
        : await findFileProblem(comparison, { ...file, key }, filesThere[at]).catch(orProblem);
    if (problem !== undefined) verdict.fail(`File ${at + 1} of ${files.length} (${file.blobKey}) ${problem}`);
    verdict.files += 1;
    verdict.fileBytes += file.sizeBytes;
  }
}

/** Reads the whole file. @param there undefined: the content is not compared. */
async function findFileProblem(
  { here, source, row: { id: pushId, ownerId } }: Comparison,
  file: FileRow & Pick<StoredFile, "key">,
  there: SourceFile | undefined,
): Promise<string | undefined> {
  if (openFileDetails(here.keyring, { ...file, ownerId }) === undefined) return "has a name that does not open.";
  const stored = { pushId, row: file, key: file.key };
  const digest = await digestOf(readStoredFile(here.blobs, stored, { start: 0, end: file.sizeBytes - 1 }));
  if (there === undefined) return undefined;
  const digestThere = there.checksum?.trim() ?? (await digestOf(source.readFile(there)));
  return digest === digestThere ? undefined : "differs from the source's.";
}

function orProblem(error: unknown): string {
  if (error instanceof StoredFileError) return `is ${error.problem} in the store.`;
  if (error instanceof BlobStoreError) return `cannot be read. ${error.message}`;
  if (isSourceFileError(error)) return `has no checksum and cannot be compared with the source's. ${error.message}`;
  throw error;
}

/** As the source records it: base64 of MD5. */
async function digestOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const md5 = createHash("md5");
  for await (const chunk of content) md5.update(chunk);
  return md5.digest("base64");
}
