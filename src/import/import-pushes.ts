import type {
  MissingPart,
  PushPart,
  RelatedCounts,
  SourceFile,
  SourcePush,
  SourceRow,
  SourceTrail,
} from "@sealpush/import-password-pusher";
import { dayMs } from "../base/clock.ts";
import type { ReimportPlan, Withdrawal } from "../pushes/create/reimport-push.ts";
import { tombstoneMs } from "../pushes/present-push.ts";
import { type Aspect, type AspectDigests, aspectList, changedAspects, pushAspects } from "./aspects.ts";
import type { IncomingPush, PushUpdateOutcome } from "./destination.ts";
import type { PushState } from "./import-results.ts";
import { missingOfImported, unreadableNow } from "./missing-parts.ts";
import { findLostFile, leadsNowhere, linkProblem, type PushContext, readPush } from "./read-push.ts";
import { runConcurrently } from "./run-concurrently.ts";
import type { ImportRun } from "./run-context.ts";
import { absentPushes, absentUsers, pushIdentity } from "./same-source.ts";
import type { ImportedRow } from "./store/imported-rows.ts";

/** Concurrent writes share a commit, and the work on one push uses the time in which another waits. */
const limits = { tasksMax: 16, weightMax: 16 * 1024 * 1024 };
/** Bytes of memory that a push needs in addition to its payload and its trail. */
const rowWeight = 4_096;
/** Bytes. An audit entry is in memory three times: as read, as written, and as parameters of its statement. */
const entryWeight = 2_048;
/** An upper bound of the duration of a run. */
const longestRunMs = 7 * dayMs;

type PushRow = SourceRow<SourcePush, PushPart>;
type ReadRow = Extract<PushRow, { readonly outcome: "read" }>;

export async function importPushes(run: ImportRun): Promise<void> {
  await runConcurrently(rowsToImport(run), { ...limits, weightOf, signal: run.signal }, async ({ row, imported }) => {
    if (imported !== undefined) await handleImportedBefore(run, row, imported);
    else if (row.outcome === "unreadable") leaveOut(run, row, row.reason);
    else if (row.outcome === "skipped") skip(run, row, row.reason);
    else await importRow(run, row);
  });
}

/** For pushes that the source does not have any more: it deletes ended pushes without an owner, and those of deleted users. */
export async function withdrawPushes(run: ImportRun): Promise<void> {
  const { source, destination, results, signal } = run;
  const absentOwners = new Set<number>();
  for await (const { id } of absentUsers(source, destination)) absentOwners.add(id);
  for await (const imported of absentPushes(source, destination)) {
    if (signal.aborted) return;
    const outcome = await withdrawPush(run, imported, absentOwners);
    if (outcome === "removed") results.reportWithdrawn("pushes", imported.sourceId);
    if (outcome === "ended")
      results.reportKept("pushes", imported.sourceId, "The source does not have it any more, so it has ended here.");
  }
}

/**
 * The source purges pushes that have ended. Before their time, views or somebody ended them; those of a deleted user were
 * deleted with it.
 */
function withdrawPush(
  { destination, now }: ImportRun,
  imported: ImportedRow,
  absentOwners: ReadonlySet<number>,
): Promise<Withdrawal> {
  const isTimeOver = imported.expiresAt !== null && imported.expiresAt <= now;
  return destination.withdrawPush(
    imported,
    (ownerId) => isTimeOver && (ownerId === null || !absentOwners.has(ownerId)),
  );
}

interface RowToImport {
  readonly row: PushRow;
  /** The record of an earlier run. */
  readonly imported: ImportedRow | undefined;
}

async function* rowsToImport(run: ImportRun): AsyncGenerator<RowToImport> {
  const findImported = run.destination.pushFinder();
  for await (const row of run.source.pushes()) {
    run.onRow("pushes");
    countOwnerless(run, row);
    yield { row, imported: await findImported(row.id) };
  }
}

/** If the owner is not in the source, the push is imported without what only an owner can see. */
function countOwnerless({ owners, results }: ImportRun, row: PushRow): void {
  if (row.outcome !== "read" || row.row.userId === null) return;
  if (owners.ownerOf(row.row.userId).outcome === "nobody") results.addOwnerless(row.id);
}

function weightOf({ row }: RowToImport): number {
  if (row.outcome !== "read") return rowWeight;
  // A character takes two bytes in memory, and its sealed form up to four.
  const payloadWeight = (row.row.open?.payload.length ?? 0) * 6;
  return rowWeight + payloadWeight + (row.related?.auditEntries ?? 0) * entryWeight;
}

/** @param related the rows imported with it now, which may be more than in the record of an earlier run. */
function countImportedBefore(
  { results, owners }: ImportRun,
  row: PushRow,
  imported: ImportedRow,
  related: RelatedCounts,
): void {
  results.counts.pushes.importedBefore += 1;
  results.addRelated({
    inSource: row.related,
    imported: related,
    importedNow: {
      auditEntries: Math.max(related.auditEntries - imported.related.auditEntries, 0),
      notifications: Math.max(related.notifications - imported.related.notifications, 0),
      files: 0,
    },
    missingParts: imported.missingParts,
    isOwned: row.outcome !== "read" || owners.ownerOf(row.row.userId).outcome !== "nobody",
  });
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
  const owner = run.owners.ownerOf(push.userId);
  if (owner.outcome === "left_out") {
    return leaveOut(run, row, "Its owner has no account here. It is imported once its owner is.");
  }
  if (owner.outcome === "deleted") return skip(run, row, "The account of its owner was deleted here.");
  const ownerId = owner.outcome === "here" ? owner.userId : null;
  const state = stateOf(push, ownerId);
  if (isForgotten(run, push, ownerId)) return skip(run, row, forgotten);
  const problem = linkProblem(push.urlToken);
  if (problem !== undefined) return leaveOut(run, row, problem);
  await importPush(run, row, ownerId, state);
}

const forgotten = "It has no owner and ended more than 30 days ago.";

function isForgotten({ now }: ImportRun, push: SourcePush, ownerId: number | null): boolean {
  return stateOf(push, ownerId) === "tombstone" && (push.end?.at ?? 0) + tombstoneMs <= now;
}

function stateOf(push: SourcePush, ownerId: number | null): PushState {
  if (push.open !== null) return "open";
  return ownerId === null ? "tombstone" : "ended";
}

interface PushDetails extends Omit<PushContext, "lostFileIds"> {
  readonly missing: readonly MissingPart<PushPart>[];
  readonly trail: SourceTrail;
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
    trail,
    // Only an owner can see notes and link deliveries.
    missing: missing.filter(({ part }) => ownerId !== null || (part !== "note" && part !== "notifications")),
  };
}

function missingPeople({ owners }: ImportRun, { entries }: SourceTrail): readonly MissingPart<PushPart>[] {
  if (!entries.some(({ userId }) => owners.ownerOf(userId).outcome === "left_out")) return [];
  const reason = "Its audit trail names a user who is not imported. Those entries name nobody until the user is.";
  return [{ part: "people", reason }];
}

async function importPush(run: ImportRun, row: ReadRow, ownerId: number | null, state: PushState): Promise<void> {
  const { results } = run;
  const push = row.row;
  const details = await readDetails(run, row, ownerId);
  const lost: FileLost[] = [];
  for (;;) {
    const missing = [...details.missing, ...lostFiles(lost)];
    const incoming = incomingOf(run, row, details, missing);
    const { related } = incoming;
    const context = { ...details, lostFileIds: new Set(lost.map(({ file }) => file.id)) };
    const attempt = await orLostFile(() =>
      run.destination.importPush({ ...incoming, push: readPush(push, context, run.source) }),
    );
    switch (attempt.outcome) {
      case "file_lost":
        if (!run.options.withoutLostFiles) {
          return leaveOut(run, row, `One of its files cannot be read. ${attempt.reason}`, attempt.file);
        }
        lost.push(attempt);
        break;
      case "link_taken":
        return leaveOut(run, row, "Another push here has the same link.");
      case "imported_before":
        // A concurrent import of the same installation has imported it.
        return await handleImportedBefore(run, row, attempt.imported);
      case "imported":
        results.addPush({
          kind: push.kind,
          state,
          isLasting: isLasting(run, push, ownerId),
          fileBytes: attempt.fileBytes,
          auditEntries: related.auditEntries,
        });
        results.addRelated({
          inSource: row.related,
          imported: related,
          importedNow: related,
          missingParts: missing.map(({ part }) => part),
          isOwned: ownerId !== null,
        });
        if (leadsNowhere(push)) results.reportNotDone("pushes", push.id, importedAsText);
        return results.reportMissing("pushes", push.id, missing);
    }
  }
}

const importedAsText =
  "Its address is not a web address, so it is imported as text: recipients see it and are not redirected.";

/** Whether the push still exists at the end of the run, even if a server runs meanwhile. */
function isLasting({ destination, now }: ImportRun, { end }: SourcePush, ownerId: number | null): boolean {
  const deletedAt = end === null ? undefined : destination.deletedAt({ ownerId, endedAt: end.at });
  return deletedAt === undefined || deletedAt > now + longestRunMs;
}

function lostFiles(lost: readonly FileLost[]): readonly MissingPart<PushPart>[] {
  return lost.map(({ file, reason }) => ({ part: "files", file, reason: `It is imported without a file. ${reason}` }));
}

function relatedOf({ entries, ownerId }: PushDetails, files: number): RelatedCounts {
  const notifications = ownerId === null ? 0 : entries.filter(({ notification }) => notification !== null).length;
  return { auditEntries: entries.length, notifications, files };
}

/** All but the content, which is read while it is sealed. */
function incomingOf(
  run: ImportRun,
  row: ReadRow,
  details: PushDetails,
  missing: readonly MissingPart<PushPart>[],
): Omit<IncomingPush, "push"> {
  const lost =
    missing.filter(({ part }) => part === "files").length -
    details.missing.filter(({ part }) => part === "files").length;
  return {
    sourceId: row.id,
    missingParts: missing.map(({ part }) => part),
    identity: run.destination.digests.of("identity", pushIdentity(row.row)),
    aspects: aspectsOf(run, row, { ...details, missing }),
    related: relatedOf(details, (row.row.open?.files.length ?? 0) - lost),
  };
}

const aspectsOfParts: Readonly<Record<PushPart, Aspect>> = {
  note: "labels",
  trail: "trail",
  notifications: "trail",
  people: "trail",
  files: "files",
};

/** Without those of missing parts. */
function aspectsOf(
  { destination }: ImportRun,
  { row }: ReadRow,
  { trail, ownerId, missing }: PushDetails,
): AspectDigests {
  const hidden = missing.map(({ part }) => aspectsOfParts[part]);
  const values = Object.entries(pushAspects(row, trail, ownerId));
  return destination.digests.all(Object.fromEntries(values.filter(([aspect]) => !hidden.includes(aspect as Aspect))));
}

interface FileLost {
  readonly outcome: "file_lost";
  readonly file: SourceFile;
  readonly reason: string;
}

async function orLostFile<Outcome>(attempt: () => Promise<Outcome>): Promise<Outcome | FileLost> {
  try {
    return await attempt();
  } catch (error) {
    const lost = findLostFile(error);
    if (lost === undefined) throw error;
    return { outcome: "file_lost", file: lost.file, reason: lost.message };
  }
}

/** Compares the row with what an earlier run imported, and updates it here. */
async function handleImportedBefore(run: ImportRun, row: PushRow, imported: ImportedRow): Promise<void> {
  const { results, owners } = run;
  if (row.outcome !== "read") {
    countImportedBefore(run, row, imported, imported.related);
    return results.reportNotDone("pushes", row.id, unreadableNow(row));
  }
  const owner = owners.ownerOf(row.row.userId);
  if (owner.outcome === "left_out" || owner.outcome === "deleted") {
    return countImportedBefore(run, row, imported, imported.related);
  }
  const ownerId = owner.outcome === "here" ? owner.userId : null;
  if (isForgotten(run, row.row, ownerId)) {
    const outcome = await withdrawPush(run, imported, new Set());
    if (outcome === "ended") results.reportKept("pushes", row.id, keptSentences.ended(""));
    return skip(run, row, forgotten);
  }
  const details = await readDetails(run, row, ownerId);
  const aspects = aspectsOf(run, row, details);
  const changed = changedAspects(imported.aspects, aspects);
  if (changed.length > 0) return await updatePush(run, { row, imported, details, changed });
  countImportedBefore(run, row, imported, imported.related);
  results.reportMissing("pushes", row.id, missingOfImported(imported.missingParts, details.missing));
}

interface ChangedPush {
  readonly row: ReadRow;
  readonly imported: ImportedRow;
  readonly details: PushDetails;
  readonly changed: readonly Aspect[];
}

async function updatePush(run: ImportRun, { row, imported, details, changed }: ChangedPush): Promise<void> {
  const { results, destination, source } = run;
  const push = row.row;
  const lost: FileLost[] = [];
  for (;;) {
    const missing = [...details.missing, ...lostFiles(lost)];
    // Only files that an earlier run could not read were to be added.
    if (lost.length > 0 && changed.every((aspect) => aspect === "files")) {
      countImportedBefore(run, row, imported, imported.related);
      return results.reportMissing("pushes", push.id, missingOfImported(imported.missingParts, missing));
    }
    const incoming = incomingOf(run, row, details, missing);
    const isComplete = missing.every(({ part }) => imported.missingParts.includes(part));
    const context = { ...details, lostFileIds: new Set(lost.map(({ file }) => file.id)) };
    const attempt = await orLostFile(() =>
      destination.updatePush(imported, { ...incoming, push: readPush(push, context, source) }, isComplete),
    );
    if (attempt.outcome === "file_lost") {
      lost.push(attempt);
      continue;
    }
    if (attempt.outcome === "changed_meanwhile") return await handleImportedBefore(run, row, attempt.now);
    const isImported = attempt.plan === "replaced" || attempt.plan === "merged";
    countImportedBefore(run, row, imported, isImported ? incoming.related : imported.related);
    reportUpdate(
      results,
      row,
      attempt,
      changed.filter((aspect) => aspect !== "files" || lost.length === 0),
    );
    return results.reportMissing("pushes", push.id, missingOfImported(imported.missingParts, missing));
  }
}

const passphraseThere =
  "It asks for a passphrase in the source and not here, where its content was changed or is in use. Set a passphrase here, or end it.";

function reportUpdate(
  results: ImportRun["results"],
  { id, row }: ReadRow,
  { plan, lacksPassphrase }: PushUpdateOutcome,
  changed: readonly Aspect[],
): void {
  // An ended push has no content.
  const reported =
    row.end === null ? changed : changed.filter((aspect) => !["payload", "passphrase", "files"].includes(aspect));
  if (lacksPassphrase) results.reportNotDone("pushes", id, passphraseThere);
  if (reported.length === 0) return;
  const what = aspectList(reported);
  if (plan === "replaced") results.reportUpdated("pushes", id, what);
  else if (plan !== "kept" || row.end === null) results.reportKept("pushes", id, keptSentences[plan](what));
}

const keptSentences: Readonly<Record<Exclude<ReimportPlan, "replaced">, (what: string) => string>> = {
  merged: (what) =>
    `Changed in the source: ${what}. It was viewed or edited here too: the views of both are added up, the stricter limits of both apply, and edits here stay.`,
  restricted: (what) =>
    `Changed in the source: ${what}. Its content and labels stay as they are here, with the views of both added up and the stricter limits of both.`,
  spent: (what) =>
    `Changed in the source: ${what}. The views in the source and here have reached its limit together, so it has ended here.`,
  ended: () => "It has ended in the source, so it has ended here too.",
  kept: (what) => `Changed in the source: ${what}. It has ended here, or has more views, and stays so.`,
};
