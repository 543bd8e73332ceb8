import type {
  ImportSource,
  SourceAuditEntry,
  SourceFile,
  SourceNotification,
  SourcePush,
} from "@sealpush/import-password-pusher";
import type { ImportedPush } from "../pushes/create/adopt-push.ts";
import { importedOptions } from "../pushes/push-options.ts";
import type { EndReason, IncomingFile, LinkDeliveryReport } from "../pushes/pushes.ts";
import type { ImportedEvent } from "../pushes/store/adopt-push.ts";
import { accountOf, type Owners } from "./run-context.ts";
import { isSourceFileError } from "./source-values.ts";

/** A file of a push is missing or cannot be read completely. */
export class LostFileError extends Error {
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
export function linkProblem(urlToken: string): string | undefined {
  if (!linkShape.test(urlToken)) return "Its link has characters or a length that this server does not allow.";
  return reservedWords.has(urlToken)
    ? "Its link is a word that this server's API uses in its own addresses."
    : undefined;
}

/** Whether a url push cannot lead to its address: with another scheme, or because it cannot be a header. */
export function leadsNowhere({ kind, open }: SourcePush): boolean {
  if (kind !== "url" || open === null) return false;
  const scheme = URL.parse(open.payload)?.protocol ?? "";
  return !["http:", "https:"].includes(scheme) || /\p{Cc}/u.test(open.payload);
}

export interface PushContext {
  readonly ownerId: number | null;
  readonly owners: Owners;
  readonly entries: readonly SourceAuditEntry[];
  /** Files that cannot be read and are left out. */
  readonly lostFileIds: ReadonlySet<number>;
}

/** @param source reads the bytes of files. */
export function readPush(push: SourcePush, context: PushContext, source: Pick<ImportSource, "readFile">): ImportedPush {
  const { entries, owners, ownerId, lostFileIds } = context;
  return {
    urlToken: push.urlToken,
    kind: leadsNowhere(push) ? "text" : push.kind,
    ownerId,
    name: push.name ?? "",
    note: push.note ?? "",
    open: push.open && {
      payload: push.open.payload,
      passphrase: push.open.passphrase ?? "",
      files: push.open.files.filter(({ id }) => !lostFileIds.has(id)).map((file) => incoming(file, source)),
    },
    end: push.end && { at: push.end.at, reason: endReason(push, push.end.reason, entries) },
    expireAfterDays: push.expireAfterDays,
    expireAfterViews: push.expireAfterViews,
    ...viewsOf(push, entries),
    ...importedOptions(push),
    createdAt: push.createdAt,
    updatedAt: push.updatedAt,
    trail: entries.map((entry) => eventOf(entry, owners)),
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

function eventOf(entry: SourceAuditEntry, owners: Owners): ImportedEvent {
  return {
    kind: entry.kind,
    address: entry.address,
    userAgent: entry.userAgent,
    referrer: entry.referrer,
    at: entry.createdAt,
    updatedAt: entry.updatedAt,
    userId: accountOf(owners, entry.userId),
    linkDelivery: entry.notification && pastDelivery(entry.notification, entry.updatedAt),
  };
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

function incoming(file: SourceFile, source: Pick<ImportSource, "readFile">): IncomingFile {
  return {
    filename: file.filename,
    contentType: file.contentType ?? "",
    content: contentOf(file, source),
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
export function findLostFile(error: unknown): LostFileError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof LostFileError) return cause;
  }
  throw error;
}
