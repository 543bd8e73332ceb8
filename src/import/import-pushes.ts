import type {
  ImportSource,
  MissingPart,
  RowWarning,
  SourceAuditEntry,
  SourceFile,
  SourceNotification,
  SourcePush,
  SourceRow,
} from "@sealpush/import-password-pusher";
import type { ImportedPush } from "../pushes/create/adopt-push.ts";
import { tombstoneMs } from "../pushes/present-push.ts";
import { importedOptions } from "../pushes/push-options.ts";
import type { EndReason, LinkDeliveryReport } from "../pushes/pushes.ts";
import { accountOf, type ImportRun, type PushState } from "./import-results.ts";
import { runConcurrently } from "./run-concurrently.ts";
import { isSourceFileError, missingBefore } from "./source-values.ts";
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
    const userId = row.outcome === "read" ? row.row.userId : null;
    // The push is imported without what only an owner can see.
    if (userId !== null && !run.owners.has(userId)) run.source.warn(ownerless, row.id);
    if (imported !== undefined) handleImportedBefore(run, row, imported);
    else if (row.outcome === "unreadable") run.results.leaveOut("pushes", row, row.reason);
    else if (row.outcome === "skipped") run.results.skip(row, row.reason);
    else await importRow(run, row);
  });
}

function weightOf({ row }: { readonly row: PushRow }): number {
  if (row.outcome !== "read") return rowWeight;
  // A character takes two bytes in memory, and its sealed form up to four.
  const payloadWeight = (row.row.open?.payload.length ?? 0) * 6;
  return rowWeight + payloadWeight + (row.related?.auditEntries ?? 0) * entryWeight;
}

function handleImportedBefore({ results, owners }: ImportRun, row: PushRow, imported: ImportedRow): void {
  results.counts.pushes.importedBefore += 1;
  results.addRelated("importedBefore", row.related, {
    imported: imported.related,
    missingParts: imported.missingParts,
    isOwned: row.outcome !== "read" || (row.row.userId !== null && owners.has(row.row.userId)),
  });
  results.reportMissing("pushes", row.id, missingBefore(imported));
}

async function importRow(run: ImportRun, row: ReadRow): Promise<void> {
  const { results, owners, now } = run;
  const push = row.row;
  const ownerId = (push.userId === null ? undefined : owners.get(push.userId)) ?? null;
  if (ownerId === "left_out") {
    return results.leaveOut("pushes", row, "Its owner has no account here. It is imported once its owner is.");
  }
  if (ownerId === "deleted") return results.skip(row, "The account of its owner was deleted here.");
  const state = push.open !== null ? "open" : ownerId === null ? "tombstone" : "ended";
  if (state === "tombstone" && (push.end?.at ?? 0) + tombstoneMs <= now) {
    return results.skip(row, "It has no owner and ended more than 30 days ago.");
  }
  const problem = linkProblem(push.urlToken);
  if (problem !== undefined) return results.leaveOut("pushes", row, problem);
  await importPush(run, row, ownerId, state);
}

const unnamedPeople: MissingPart = {
  part: "people",
  reason: "Its audit trail names a user who is not imported. Those entries name nobody.",
};

async function importPush(run: ImportRun, row: ReadRow, ownerId: number | null, state: PushState): Promise<void> {
  const { results, source, owners, options } = run;
  const push = row.row;
  const trail = state === "tombstone" ? { entries: [], missingParts: [] } : await source.trail(row.id);
  const { entries } = trail;
  const namesLeftOut = entries.some(({ userId }) => userId !== null && owners.get(userId) === "left_out");
  const unread = [...row.missingParts, ...trail.missingParts, ...(namesLeftOut ? [unnamedPeople] : [])];
  // Only an owner can see notes and link deliveries.
  const missing = unread.filter(({ part }) => ownerId !== null || (part !== "note" && part !== "notifications"));
  const notifications = ownerId === null ? 0 : entries.filter(({ notification }) => notification !== null).length;
  const lost: LostFileError[] = [];
  for (;;) {
    const missingParts = missing.map(({ part }) => part);
    const files = (push.open?.files.length ?? 0) - lost.length;
    const related = { auditEntries: entries.length, notifications, files };
    const incoming = readPush(run, push, entries, lost);
    const attempt = await run.destination
      .importPush({ sourceId: row.id, missingParts, related, push: incoming })
      .catch(findLostFile);
    if (attempt instanceof LostFileError) {
      const { file, message } = attempt;
      const reason = `One of its files cannot be read. ${message}`;
      if (!options.withoutLostFiles) return results.leaveOut("pushes", row, reason, file);
      lost.push(attempt);
      missing.push({ part: "files", file, reason: `It is imported without a file. ${message}` });
      continue;
    }
    if (attempt.outcome === "link_taken")
      return results.leaveOut("pushes", row, "Another push here has the same link.");
    // A concurrent import of the same installation has imported it.
    if (attempt.outcome === "imported_before") return handleImportedBefore(run, row, attempt.imported);
    results.addPush(push.kind, state, attempt.fileBytes);
    results.addRelated("imported", row.related, { imported: related, missingParts, isOwned: ownerId !== null });
    if (leadsNowhere(push)) results.reportMissing("pushes", push.id, [{ reason: importedAsText }]);
    return results.reportMissing("pushes", push.id, missing);
  }
}

const importedAsText =
  "Its address is not a web address, so it is imported as text: recipients see it and are not redirected.";

/** A file of a push is missing or cannot be read completely. */
class LostFileError extends Error {
  override readonly name = "LostFileError";
  readonly file: SourceFile;

  constructor(file: SourceFile, cause: Error) {
    super(cause.message, { cause });
    this.file = file;
  }
}

const linkShape = /^[A-Za-z0-9_-]{1,64}$/;
/** Path segments of the API that a url_token must not equal. */
const reservedWords: ReadonlySet<string> = new Set(["active", "expired"]);

/** @returns why the link cannot work here; undefined when it can. */
function linkProblem(urlToken: string): string | undefined {
  if (!linkShape.test(urlToken)) return "Its link has characters or a length that this server does not allow.";
  return reservedWords.has(urlToken)
    ? "Its link is a word that this server's API uses in its own addresses."
    : undefined;
}

/** Whether a url push cannot lead to its address: with another scheme, or because it cannot be a header. */
function leadsNowhere({ kind, open }: SourcePush): boolean {
  if (kind !== "url" || open === null) return false;
  const scheme = URL.parse(open.payload)?.protocol ?? "";
  return !["http:", "https:"].includes(scheme) || /\p{Cc}/u.test(open.payload);
}

/** @param lost files that cannot be read and are left out. */
function readPush(
  { source, owners }: ImportRun,
  push: SourcePush,
  entries: readonly SourceAuditEntry[],
  lost: readonly LostFileError[],
): ImportedPush {
  const files = push.open?.files.filter(({ id }) => !lost.some(({ file }) => file.id === id)) ?? [];
  return {
    ...push,
    kind: leadsNowhere(push) ? "text" : push.kind,
    ownerId: accountOf(owners, push.userId),
    name: push.name ?? "",
    note: push.note ?? "",
    open: push.open && {
      payload: push.open.payload,
      passphrase: push.open.passphrase ?? "",
      files: files.map((file) => ({
        filename: file.filename,
        contentType: file.contentType ?? "",
        content: contentOf(file, source),
      })),
    },
    end: push.end && { at: push.end.at, reason: endReason(push, push.end.reason, entries) },
    ...viewsOf(push, entries),
    ...importedOptions(push),
    trail: entries.map((entry) => ({
      ...entry,
      at: entry.createdAt,
      userId: accountOf(owners, entry.userId),
      linkDelivery: entry.notification && pastDelivery(entry.notification, entry.updatedAt),
    })),
  };
}

/** The audit trail says who deleted the push. */
function endReason(
  push: SourcePush,
  reason: NonNullable<SourcePush["end"]>["reason"],
  entries: readonly SourceAuditEntry[],
): EndReason {
  if (reason !== "deleted") return reason;
  const deletion = entries.find((entry) => entry.kind === "expire");
  return push.userId !== null && deletion?.userId === push.userId ? "owner" : "viewer";
}

/**
 * The source counts refused retrievals as views. For a live push they are part of the count that the limit applies to; for
 * an ended push the audit trail distinguishes them.
 */
function viewsOf(push: SourcePush, entries: readonly SourceAuditEntry[]): { views: number; refusals: number } {
  if (push.open !== null) return { views: push.countedViews, refusals: 0 };
  const refused = Math.min(entries.filter((entry) => entry.kind === "failed_view").length, push.countedViews);
  return { views: push.countedViews - refused, refusals: Math.min(refused, Math.max(push.expireAfterViews, 0)) };
}

const notSent = "It was still waiting to be sent when it was imported. This server does not send it.";

/** Emails that were still waiting are never sent, so they have failed. */
function pastDelivery(notification: SourceNotification, at: number): LinkDeliveryReport {
  const delivery = { ...notification, recipients: notification.recipients.join(", ") };
  if (notification.status !== "pending" && notification.status !== "processing") return delivery;
  const wasSentToSome = (notification.successfulSends ?? "") !== "";
  return {
    ...delivery,
    status: wasSentToSome ? "partially_failed" : "failed",
    errorMessage: notification.errorMessage || notSent,
    proceedAt: notification.proceedAt ?? at,
  };
}

async function* contentOf(file: SourceFile, source: Pick<ImportSource, "readFile">): AsyncGenerator<Uint8Array> {
  try {
    yield* source.readFile(file);
  } catch (error) {
    throw isSourceFileError(error) ? new LostFileError(file, error) : error;
  }
}

/** The blob store may have wrapped it. @throws any other error. */
function findLostFile(error: unknown): LostFileError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof LostFileError) return cause;
  }
  throw error;
}
