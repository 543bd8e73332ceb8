import type {
  MissingPart,
  RelatedCounts,
  RowWarning,
  SourceFile,
  SourcePush,
  SourceRow,
  SourceTrail,
} from "@sealpush/import-password-pusher";
import { tombstoneMs } from "../pushes/present-push.ts";
import type { PushState } from "./import-results.ts";
import { missingBefore } from "./missing-parts.ts";
import { findLostFile, LostFileError, leadsNowhere, linkProblem, type PushContext, readPush } from "./read-push.ts";
import { runConcurrently } from "./run-concurrently.ts";
import type { ImportRun } from "./run-context.ts";
import { type ImportedRow, withRecords } from "./store/imported-rows.ts";

/** Concurrent writes share a commit, and the work on one push uses the time in which another waits. */
const limits = { tasksMax: 16, weightMax: 16 * 1024 * 1024 };
/** Bytes of memory that a push needs in addition to its payload and its trail. */
const rowWeight = 4_096;
/** Bytes. An audit entry is in memory three times: as read, as written, and as parameters of its statement. */
const entryWeight = 2_048;

const ownerless: RowWarning = [
  "push belongs to a user who is not in the source. It is imported without owner, name and note",
  "pushes belong to users who are not in the source. They are imported without owner, name and note",
];

type PushRow = SourceRow<SourcePush>;
type ReadRow = Extract<PushRow, { readonly outcome: "read" }>;

export async function importPushes(run: ImportRun): Promise<void> {
  const rows = withRecords(run.source.pushes(), run.destination.rows.all("push"));
  await runConcurrently(rows, { ...limits, weightOf, signal: run.signal }, async ({ row, imported }) => {
    run.onRow("pushes");
    warnOfOwnerless(run, row);
    if (imported !== undefined) handleImportedBefore(run, row, imported);
    else if (row.outcome === "unreadable") leaveOut(run, row, row.reason);
    else if (row.outcome === "skipped") skip(run, row, row.reason);
    else await importRow(run, row);
  });
}

/** If the owner is not in the source, the push is imported without what only an owner can see. */
function warnOfOwnerless({ owners, source }: ImportRun, row: PushRow): void {
  if (row.outcome !== "read" || row.row.userId === null) return;
  if (!owners.has(row.row.userId)) source.warn(ownerless, row.id);
}

function weightOf({ row }: { readonly row: PushRow }): number {
  if (row.outcome !== "read") return rowWeight;
  // A character takes two bytes in memory, and its sealed form up to four.
  const payloadWeight = (row.row.open?.payload.length ?? 0) * 6;
  return rowWeight + payloadWeight + (row.related?.auditEntries ?? 0) * entryWeight;
}

function handleImportedBefore({ results, owners }: ImportRun, row: PushRow, imported: ImportedRow): void {
  results.counts.pushes.importedBefore += 1;
  results.addRelated("importedBefore", {
    inSource: row.related,
    imported: imported.related,
    missingParts: imported.missingParts,
    isOwned: row.outcome !== "read" || (row.row.userId !== null && owners.has(row.row.userId)),
  });
  results.reportMissing("pushes", row.id, missingBefore(imported));
}

function leaveOut({ results }: ImportRun, { id, related }: PushRow, reason: string, file?: SourceFile): void {
  results.leaveOut("pushes", id, reason, file);
  results.addRelatedOfMissingPush("leftOut", related);
}

function skip({ results }: ImportRun, { related }: PushRow, reason: string): void {
  results.skip("pushes", reason);
  results.addRelatedOfMissingPush("skipped", related);
}

async function importRow(run: ImportRun, row: ReadRow): Promise<void> {
  const push = row.row;
  const ownerId = (push.userId === null ? undefined : run.owners.get(push.userId)) ?? null;
  if (ownerId === "left_out") {
    return leaveOut(run, row, "Its owner has no account here. It is imported once its owner is.");
  }
  if (ownerId === "deleted") return skip(run, row, "The account of its owner was deleted here.");
  const state = stateOf(push, ownerId);
  if (state === "tombstone" && (push.end?.at ?? 0) + tombstoneMs <= run.now) {
    return skip(run, row, "It has no owner and ended more than 30 days ago.");
  }
  const problem = linkProblem(push.urlToken);
  if (problem !== undefined) return leaveOut(run, row, problem);
  await importPush(run, row, ownerId, state);
}

function stateOf(push: SourcePush, ownerId: number | null): PushState {
  if (push.open !== null) return "open";
  return ownerId === null ? "tombstone" : "ended";
}

interface PushDetails extends Omit<PushContext, "lostFileIds"> {
  readonly missing: readonly MissingPart[];
}

/** Reads what belongs to a push in other tables of the source. */
async function readDetails(run: ImportRun, row: ReadRow, ownerId: number | null): Promise<PushDetails> {
  const { owners } = run;
  const isTombstone = stateOf(row.row, ownerId) === "tombstone";
  const trail: SourceTrail = isTombstone ? { entries: [], missingParts: [] } : await run.source.trail(row.id);
  const missing = [...row.missingParts, ...trail.missingParts, ...missingPeople(run, trail)];
  return {
    ownerId,
    owners,
    entries: trail.entries,
    // Only an owner can see notes and link deliveries.
    missing: missing.filter(({ part }) => ownerId !== null || (part !== "note" && part !== "notifications")),
  };
}

function missingPeople({ owners }: ImportRun, { entries }: SourceTrail): readonly MissingPart[] {
  if (!entries.some(({ userId }) => userId !== null && owners.get(userId) === "left_out")) return [];
  const reason = "Its audit trail names a user who is not imported. Those entries name nobody.";
  return [{ part: "people", reason }];
}

async function importPush(run: ImportRun, row: ReadRow, ownerId: number | null, state: PushState): Promise<void> {
  const { results, source } = run;
  const push = row.row;
  const details = await readDetails(run, row, ownerId);
  const lost: LostFileError[] = [];
  for (;;) {
    const missing = [...details.missing, ...lost.map(lostPart)];
    const missingParts = missing.map(({ part }) => part);
    const related = relatedOf(details, (push.open?.files.length ?? 0) - lost.length);
    const context = { ...details, lostFileIds: new Set(lost.map(({ file }) => file.id)) };
    const incoming = { sourceId: row.id, missingParts, related, push: readPush(push, context, source) };
    const attempt = await run.destination.importPush(incoming).catch(findLostFile);
    if (attempt instanceof LostFileError) {
      if (run.options.withoutLostFiles) {
        lost.push(attempt);
        continue;
      }
      return leaveOut(run, row, `One of its files cannot be read. ${attempt.message}`, attempt.file);
    }
    if (attempt.outcome === "link_taken") return leaveOut(run, row, "Another push here has the same link.");
    // A concurrent import of the same installation has imported it.
    if (attempt.outcome === "imported_before") return handleImportedBefore(run, row, attempt.imported);
    results.addPush(push.kind, state, attempt.fileBytes);
    results.addRelated("imported", {
      inSource: row.related,
      imported: related,
      missingParts,
      isOwned: ownerId !== null,
    });
    if (leadsNowhere(push)) results.reportMissing("pushes", push.id, [{ reason: importedAsText }]);
    return results.reportMissing("pushes", push.id, missing);
  }
}

const importedAsText =
  "Its address is not a web address, so it is imported as text: recipients see it and are not redirected.";

function lostPart({ file, message }: LostFileError): MissingPart {
  return { part: "files", file, reason: `It is imported without a file. ${message}` };
}

function relatedOf({ entries, ownerId }: PushDetails, files: number): RelatedCounts {
  const notifications = ownerId === null ? 0 : entries.filter(({ notification }) => notification !== null).length;
  return { auditEntries: entries.length, notifications, files };
}
