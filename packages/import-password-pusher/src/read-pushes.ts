import { booleanOf, textOf, timeOf, wholeNumberOf } from "./cells.ts";
import { batchesOf, byId, onlyInIndex, openerOf, type ReaderContext, readInBatches } from "./read-in-batches.ts";
import {
  auditKinds,
  kinds,
  type MissingPart,
  type RelatedCounts,
  type SourceFile,
  type SourcePush,
  type SourceRow,
} from "./source.ts";
import type { Cell, SourceRecord } from "./store/source-rows.ts";

interface PushContext extends ReaderContext {
  /** The first push of each link that several pushes have. Only that push can be retrieved by the link. */
  readonly firstOfLink: ReadonlyMap<string, number>;
  /** Decides which pushes have ended. It is the same for all pushes of an import. */
  readonly now: number;
}

interface FoundPush {
  readonly id: number;
  readonly record: SourceRecord;
  readonly trail: ReturnType<typeof summaryOf>;
  /** A number is the id of an attachment without a blob. */
  readonly files: readonly (SourceFile | number)[];
  readonly related: RelatedCounts;
}

export function readPushes(context: PushContext, afterId: number): AsyncIterable<SourceRow<SourcePush>> {
  const fetch = (ids: readonly number[]) => fetchPushes(context, ids);
  return readInBatches({ ...batchesOf(context.queries, "pushes"), fetch }, afterId);
}

async function fetchPushes(context: PushContext, ids: readonly number[]): Promise<readonly SourceRow<SourcePush>[]> {
  const { queries } = context;
  const records = byId(await queries.rows("pushes", "id", ids), "id");
  const counts = byId(await queries.entryCounts(ids), "push_id");
  const notifications = byId(await queries.notificationCounts(ids), "push_id");
  const files = byId(await queries.files(ids), "push_id");
  const rows: SourceRow<SourcePush>[] = [];
  for (const id of ids) {
    const [record] = records.get(id) ?? [];
    const trail = summaryOf(counts.get(id) ?? []);
    const attached = (files.get(id) ?? []).map(fileOf);
    const related = {
      auditEntries: trail.entries,
      notifications: wholeNumberOf(notifications.get(id)?.[0]?.entries) ?? 0,
      files: attached.length,
    };
    if (record === undefined) rows.push({ outcome: "unreadable", id, related, reason: onlyInIndex });
    else rows.push(await pushOf(context, { id, record, trail, files: attached, related }));
  }
  return rows;
}

/** Views and refused views count as views. An entry of the kind `expire` means that a person deleted the push. */
function summaryOf(records: readonly SourceRecord[]) {
  let [countedViews, entries] = [0, 0];
  let deletedAt: Cell = null;
  for (const record of records) {
    const kind = auditKinds[wholeNumberOf(record.kind) ?? -1];
    if (kind === "expire") deletedAt = record.first_at ?? null;
    const count = wholeNumberOf(record.entries) ?? 0;
    if (kind === "view" || kind === "failed_view") countedViews += count;
    entries += count;
  }
  return { countedViews, deletedAt, entries };
}

/** @returns the id of the attachment if it has no blob. */
function fileOf(record: SourceRecord): SourceFile | number {
  const id = wholeNumberOf(record.attachment_id) ?? 0;
  if (["key", "byte_size", "filename", "service_name"].every((column) => textOf(record[column]) === null)) return id;
  const sizeBytes = wholeNumberOf(record.byte_size) ?? null;
  return {
    id,
    key: textOf(record.key) ?? "",
    sizeBytes,
    filename: shownFilename(textOf(record.filename) ?? ""),
    contentType: textOf(record.content_type),
    checksum: textOf(record.checksum) || null,
    service: textOf(record.service_name) ?? "local",
  };
}

/** As the source names the file in pages and downloads. */
function shownFilename(stored: string): string {
  const outerBlanks = /^[\t-\r ]+|[\0\t-\r ]+$/g;
  return stored.replace(outerBlanks, "").replace(/[\u202e%$|:;/<>?*"\t\r\n\\]/g, "-");
}

/** The source's defaults, which it used for rows without limits. */
const daysWithoutLimit = 7;
const viewsWithoutLimit = 5;

/**
 * Columns that get no default if they are unreadable: a wrong guess could reveal a push or take it from its owner. NULL is a
 * valid value of each.
 */
const columnsWithoutFallback = [
  ["user_id", "Its owner", wholeNumberOf],
  ["expire_after_days", "Its number of days", wholeNumberOf],
  ["expire_after_views", "Its number of views", wholeNumberOf],
  ["expired", "Whether it has ended", booleanOf],
  ["deletable_by_viewer", "Whether viewers may delete it", booleanOf],
  ["retrieval_step", "Whether it has a retrieval step", booleanOf],
] as const;

/** A push with its state and, if it is live, its content. Reasons never repeat the content. */
async function pushOf(context: PushContext, found: FoundPush): Promise<SourceRow<SourcePush>> {
  const { id, record, trail, related } = found;
  const unreadable = (reason: string) => ({ outcome: "unreadable" as const, id, related, reason });
  const urlToken = textOf(record.url_token) ?? "";
  if (urlToken === "") {
    return { outcome: "skipped", id, related, reason: "It has no url_token, so it has no link." };
  }
  const first = context.firstOfLink.get(urlToken);
  if (first !== undefined && first !== id) return unreadable(`The push ${first} has the same link.`);
  const kindNumber = wholeNumberOf(record.kind);
  const kind = kinds[kindNumber ?? -1];
  if (kind === undefined)
    return unreadable(`Its kind ${kindNumber === undefined ? "" : `${kindNumber} `}is not known.`);
  const createdAt = timeOf(record.created_at);
  if (createdAt === undefined) return unreadable("Its time of creation (created_at) cannot be read.");
  const damaged = columnsWithoutFallback.find(
    ([column, , read]) => textOf(record[column]) !== null && read(record[column]) === undefined,
  );
  if (damaged !== undefined) return unreadable(`${damaged[1]} (${damaged[0]}) cannot be read.`);

  const missingParts: MissingPart[] = [];
  const counted = {
    createdAt,
    updatedAt: timeOf(record.updated_at) ?? createdAt,
    expireAfterDays: wholeNumberOf(record.expire_after_days) ?? daysWithoutLimit,
    expireAfterViews: wholeNumberOf(record.expire_after_views) ?? viewsWithoutLimit,
    countedViews: trail.countedViews,
  };
  const end = await endIn(context, found, counted);
  const open = openerOf(context, "pushes", record);
  const content = end === null ? contentOf(open, found, missingParts) : null;
  const note = open("note_ciphertext");
  // The note is only for the owner, so the push is imported without it if it is unreadable.
  if (note === undefined) missingParts.push(lostNote);
  if (typeof content === "string") return unreadable(content);
  const row: SourcePush = {
    id,
    kind,
    urlToken,
    end,
    ...counted,
    userId: wholeNumberOf(record.user_id) ?? null,
    name: textOf(record.name),
    note: note ?? null,
    open: content,
    deletableByViewer: booleanOf(record.deletable_by_viewer) === true,
    retrievalStep: booleanOf(record.retrieval_step) === true,
  };
  return { outcome: "read", id, related, row, missingParts };
}

const lostNote: MissingPart = { part: "note", reason: "No key opens its note. The push is imported without it." };

async function endIn({ queries, now }: PushContext, { id, record, trail }: FoundPush, counted: CountedColumns) {
  const { expireAfterViews, countedViews } = counted;
  const expiredOn = timeOf(record.expired_on);
  const needsLastView = expiredOn === undefined && expireAfterViews > 0 && countedViews >= expireAfterViews;
  const lastViewAt = needsLastView ? timeOf(await queries.countedViewAt(id, expireAfterViews)) : undefined;
  const expired = booleanOf(record.expired) === true;
  return endOf({ ...counted, expired, expiredOn, deletedAt: timeOf(trail.deletedAt), lastViewAt }, now);
}

type Opener = ReturnType<typeof openerOf>;

/** @returns why the push is unreadable: without payload or passphrase nobody could retrieve it. */
function contentOf(
  open: Opener,
  { files }: FoundPush,
  missingParts: MissingPart[],
): NonNullable<SourcePush["open"]> | string {
  const payload = open("payload_ciphertext");
  if (payload === undefined) return "No key opens its payload.";
  const passphrase = open("passphrase_ciphertext");
  if (passphrase === undefined) return "No key opens its passphrase.";
  for (const file of files) {
    if (typeof file !== "number") continue;
    missingParts.push({ part: "files", reason: `Its attachment ${file} has no blob.` });
  }
  return {
    payload: payload ?? "",
    // The source asks for a passphrase only if it is not blank.
    passphrase: passphrase !== null && /\P{White_Space}/u.test(passphrase) ? passphrase : null,
    files: files.filter((file) => typeof file !== "number"),
  };
}

const dayMs = 86_400_000;

type CountedColumns = Pick<
  SourcePush,
  "expireAfterDays" | "expireAfterViews" | "countedViews" | "createdAt" | "updatedAt"
>;

/** The columns that decide when and why a push ends. */
export interface EndColumns extends CountedColumns {
  /** The flag of the row. The source sets it some time after the end. */
  readonly expired: boolean;
  readonly expiredOn: number | undefined;
  /** When a person deleted it; undefined: nobody did. */
  readonly deletedAt: number | undefined;
  /** The time of the last allowed view; undefined: the limit is not reached, or the time is not known. */
  readonly lastViewAt: number | undefined;
}

/** Days are 24 hours each. @returns null if the push has not ended. */
export function endOf(columns: EndColumns, now: number): SourcePush["end"] {
  const { expired, expiredOn, deletedAt, createdAt, updatedAt } = columns;
  const daysEndAt = createdAt + Math.max(columns.expireAfterDays, 0) * dayMs;
  const viewsUsed = columns.countedViews >= columns.expireAfterViews;
  const daysUsed = now >= daysEndAt;
  if (!expired && !viewsUsed && !daysUsed) return null;
  if (deletedAt !== undefined) return { at: expiredOn ?? deletedAt, reason: "deleted" };
  // If both limits are reached, the first one decides.
  const viewsEndAt = columns.lastViewAt ?? updatedAt;
  if (viewsUsed && (!daysUsed || viewsEndAt <= daysEndAt)) return { at: expiredOn ?? viewsEndAt, reason: "views" };
  return { at: expiredOn ?? (daysUsed ? daysEndAt : updatedAt), reason: "time" };
}
