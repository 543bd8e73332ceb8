import type { PushPart, SourceFile, SourcePush, SourceRow } from "../../../src/import/source.ts";
import { textOf, wholeNumberOf } from "./cells.ts";
import { readInGroups } from "./in-groups.ts";
import { type PushReading, pushOf, type TrailSummary } from "./push-row.ts";
import { auditKinds } from "./read-trail.ts";
import type { SourceRecord } from "./store/source-rows.ts";

export function readPushes(reading: PushReading, afterId: number): AsyncIterable<SourceRow<SourcePush, PushPart>> {
  const { pushIds: ids, pushSizes: sizes } = reading.queries;
  return readInGroups<SourcePush, PushPart>({ ids, sizes, fetch: (group) => fetchPushes(reading, group) }, afterId);
}

async function fetchPushes(
  reading: PushReading,
  ids: readonly number[],
): Promise<readonly SourceRow<SourcePush, PushPart>[]> {
  const { queries } = reading;
  const records = byId(await queries.pushes(ids), "id");
  const counts = byId(await queries.entryCounts(ids), "push_id");
  const notifications = byId(await queries.notificationCounts(ids), "push_id");
  const files = byId(await queries.files(ids), "push_id");
  const rows: SourceRow<SourcePush, PushPart>[] = [];
  for (const id of ids) {
    const [record] = records.get(id) ?? [];
    const trail = summaryOf(counts.get(id) ?? []);
    const attached = (files.get(id) ?? []).map(fileOf);
    const holdings = {
      auditEntries: trail.entries,
      notifications: wholeNumberOf(notifications.get(id)?.[0]?.entries) ?? 0,
      files: attached.length,
    };
    const found = { id, trail, files: attached, holdings };
    // List and row are of one snapshot: an index that names what is not there is damaged.
    if (record === undefined)
      rows.push({ outcome: "unreadable", id, holdings, reason: "The database lists it and does not have it." });
    else rows.push(await pushOf(reading, { ...found, record }));
  }
  return rows;
}

function byId(records: readonly SourceRecord[], column: string): ReadonlyMap<number, readonly SourceRecord[]> {
  const groups = new Map<number, SourceRecord[]>();
  for (const record of records) {
    const id = wholeNumberOf(record[column]);
    if (id === undefined) continue;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [record]);
    else group.push(record);
  }
  return groups;
}

/** Views and refused views count; an expiry by somebody says who ended it. */
function summaryOf(records: readonly SourceRecord[]): TrailSummary {
  let [countedViews, entries] = [0, 0];
  let deletedAt: SourceRecord[string] = null;
  for (const record of records) {
    const kind = auditKinds[wholeNumberOf(record.kind) ?? -1];
    if (kind === "expire") deletedAt = record.first_at ?? null;
    const count = wholeNumberOf(record.entries) ?? 0;
    if (kind === "view" || kind === "failed_view") countedViews += count;
    entries += count;
  }
  return { countedViews, deletedAt, entries };
}

/** The number of the attachment, when there is no file on record for it. */
function fileOf(record: SourceRecord): SourceFile | number {
  const id = wholeNumberOf(record.attachment_id) ?? 0;
  if (["key", "byte_size", "filename", "service_name"].every((column) => textOf(record[column]) === null)) return id;
  const sizeBytes = wholeNumberOf(record.byte_size) ?? null;
  return {
    ...{ id, key: textOf(record.key) ?? "", sizeBytes },
    filename: textOf(record.filename) ?? "",
    contentType: textOf(record.content_type),
    checksum: textOf(record.checksum) || null,
    service: textOf(record.service_name) ?? "local",
  };
}
