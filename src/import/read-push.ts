import type { ImportedEvent, ImportedPush } from "../pushes/create/import-push.ts";
import type { EndReason, IncomingFile } from "../pushes/pushes.ts";
import type { Owners } from "./owners.ts";
import {
  type ImportSource,
  isSourceFileError,
  type SourceAuditEntry,
  type SourceFile,
  type SourcePush,
} from "./source.ts";

/** A file of a push could not be had whole. */
class LostFileError extends Error {
  override readonly name = "LostFileError";
  readonly fileId: number;

  constructor(fileId: number, cause: Error) {
    super(cause.message, { cause });
    this.fileId = fileId;
  }
}

/** What addresses of pushes take; the messages are addresses of their own. */
const linkShape = /^[A-Za-z0-9_-]{1,64}$/;
const takenWords: ReadonlySet<string> = new Set(["active", "expired"]);

/** @returns undefined when the link works here; else why it cannot. */
export function linkProblem(urlToken: string): string | undefined {
  if (!linkShape.test(urlToken)) return "Its link has characters, or a length, that no link here has.";
  return takenWords.has(urlToken) ? "Its link is a word that an address of this server's API has." : undefined;
}

/** What of a push is as its source says, with what is known of it here. */
export interface PushContext {
  readonly ownerId: number | null;
  readonly owners: Owners;
  readonly entries: readonly SourceAuditEntry[];
  /** Files that cannot be had, and that the push comes without. */
  readonly lostFileIds: ReadonlySet<number>;
}

/** @param source where the bytes of files are read. */
export function readPush(push: SourcePush, context: PushContext, source: Pick<ImportSource, "readFile">): ImportedPush {
  const { entries, owners, ownerId, lostFileIds } = context;
  return {
    ...{ urlToken: push.urlToken, kind: push.kind, ownerId, name: push.name ?? "", note: push.note ?? "" },
    open: push.open && {
      payload: push.open.payload,
      passphrase: push.open.passphrase ?? "",
      files: push.open.files.filter(({ id }) => !lostFileIds.has(id)).map((file) => incoming(file, source)),
    },
    end: push.end && { at: push.end.at, reason: endReason(push, push.end.reason, entries) },
    ...{ expireAfterDays: push.expireAfterDays, expireAfterViews: push.expireAfterViews },
    ...viewsOf(push, entries),
    ...{ deletableByViewer: push.deletableByViewer, retrievalStep: push.retrievalStep },
    ...{ createdAt: push.createdAt, updatedAt: push.updatedAt },
    trail: entries.map((entry) => eventOf(entry, owners)),
  };
}

/** The source says that a person pressed delete; its trail says who. */
function endReason(
  push: SourcePush,
  reason: NonNullable<SourcePush["end"]>["reason"],
  entries: readonly SourceAuditEntry[],
): EndReason {
  if (reason !== "deleted") return reason;
  const pressed = entries.find((entry) => entry.kind === "expire");
  return push.userId !== null && pressed?.userId === push.userId ? "owner" : "viewer";
}

/**
 * There, refused retrievals count like views, and also while a push is open. Then they go into the one count that the limit
 * is held against; of a push that has ended the trail tells them apart.
 */
function viewsOf(push: SourcePush, entries: readonly SourceAuditEntry[]): { views: number; refusals: number } {
  if (push.open !== null) return { views: push.countedViews, refusals: 0 };
  const refused = Math.min(entries.filter((entry) => entry.kind === "failed_view").length, push.countedViews);
  return { views: push.countedViews - refused, refusals: Math.min(refused, Math.max(push.expireAfterViews, 0)) };
}

function eventOf(entry: SourceAuditEntry, owners: Owners): ImportedEvent {
  const { kind, address, userAgent, referrer, createdAt: at, updatedAt } = entry;
  return {
    ...{ kind, address, userAgent, referrer, at, updatedAt },
    userId: owners.find(entry.userId),
    linkDelivery: entry.notification && { ...entry.notification, recipients: entry.notification.recipients.join(", ") },
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
    throw isSourceFileError(error) ? new LostFileError(file.id, error) : error;
  }
}

/** A store may have wrapped what its content threw. */
export function findLostFile(error: unknown): LostFileError | undefined {
  if (error instanceof LostFileError) return error;
  return error instanceof Error && error.cause !== undefined ? findLostFile(error.cause) : undefined;
}
