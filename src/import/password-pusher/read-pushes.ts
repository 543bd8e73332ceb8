import type { SourceFile, SourcePush, SourceRow } from "../source.ts";
import { wholeNumberOf } from "./cells.ts";
import { type PushReading, pushOf, type Tally } from "./push-row.ts";
import { SourceReadError, type SourceRecord } from "./store/source-rows.ts";

const pageIds = 1_000;
const groupRows = 100;
/** What is read at once of sealed columns; a single push may have more. */
const groupBytes = 4 * 1024 ** 2;
/** The widest column that any of the three engines has for a payload; real ones end at 6 MB. */
const rowBytesMax = 17 * 1024 ** 2;

interface Size {
  readonly id: number;
  readonly bytes: number;
}

/** In the order of ids: first how large the rows are, then as many at once as memory likes. */
export async function* readPushes(reading: PushReading, afterId: number): AsyncGenerator<SourceRow<SourcePush>> {
  for (let last = afterId; ; ) {
    const sizes = (await reading.queries.pushSizes(last, pageIds)).map(sizeOf);
    for (const group of groupsOf(sizes)) yield* readGroup(reading, group);
    if (sizes.length < pageIds) return;
    last = sizes.at(-1)?.id ?? last;
  }
}

function sizeOf(record: SourceRecord): Size {
  const id = wholeNumberOf(record.id);
  if (id === undefined) throw new SourceReadError("a push without a number", undefined);
  return { id, bytes: wholeNumberOf(record.bytes) ?? 0 };
}

function* groupsOf(sizes: readonly Size[]): Generator<readonly Size[]> {
  let group: Size[] = [];
  let bytes = 0;
  for (const size of sizes) {
    if (group.length > 0 && (group.length === groupRows || bytes + size.bytes > groupBytes)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(size);
    bytes += size.bytes;
  }
  if (group.length > 0) yield group;
}

/** A row that the database cannot read is found by reading the group's rows one by one. */
async function* readGroup(reading: PushReading, group: readonly Size[]): AsyncGenerator<SourceRow<SourcePush>> {
  const tooLarge = group.find(({ bytes }) => bytes > rowBytesMax);
  if (tooLarge !== undefined && group.length === 1) {
    const reason = `Its sealed columns have ${tooLarge.bytes} bytes, more than any push.`;
    yield { outcome: "unreadable", id: tooLarge.id, reason };
    return;
  }
  const rows = await fetchGroup(reading, group).catch((error: unknown) => {
    if (error instanceof SourceReadError) return error;
    throw error;
  });
  if (!(rows instanceof SourceReadError)) yield* rows;
  else if (group.length > 1) for (const size of group) yield* readGroup(reading, [size]);
  else for (const { id } of group) yield { outcome: "unreadable", id, reason: rows.message };
}

async function fetchGroup(reading: PushReading, group: readonly Size[]): Promise<readonly SourceRow<SourcePush>[]> {
  const { queries } = reading;
  const ids = group.map(({ id }) => id);
  const [records, tallies, files] = [
    byId(await queries.pushes(ids), "id"),
    byId(await queries.tallies(ids), "push_id"),
    byId(await queries.files(ids), "push_id"),
  ];
  const rows: SourceRow<SourcePush>[] = [];
  for (const id of ids) {
    const [record] = records.get(id) ?? [];
    // Between the page and the row lies one snapshot: what is listed is there, or damaged.
    if (record === undefined)
      rows.push({ outcome: "unreadable", id, reason: "The database lists it, but has no such row." });
    else
      rows.push(
        await pushOf(reading, {
          id,
          record,
          tally: tallyOf(tallies.get(id) ?? []),
          files: filesOf(files.get(id) ?? []),
        }),
      );
  }
  return rows;
}

function byId(records: readonly SourceRecord[], column: string): ReadonlyMap<number, readonly SourceRecord[]> {
  const grouped = new Map<number, SourceRecord[]>();
  for (const record of records) {
    const id = wholeNumberOf(record[column]);
    if (id === undefined) continue;
    const group = grouped.get(id);
    if (group === undefined) grouped.set(id, [record]);
    else group.push(record);
  }
  return grouped;
}

/** Views and refused views count; an expiry by somebody says who ended it. */
function tallyOf(records: readonly SourceRecord[]): Tally {
  let countedViews = 0;
  let deletedAt: SourceRecord[string] = null;
  for (const record of records) {
    if (wholeNumberOf(record.kind) === 3) deletedAt = record.first_at ?? null;
    else countedViews += wholeNumberOf(record.entries) ?? 0;
  }
  return { countedViews, deletedAt };
}

function filesOf(records: readonly SourceRecord[]): readonly (SourceFile | number)[] {
  return records.map((record) => {
    const id = wholeNumberOf(record.attachment_id) ?? 0;
    const { key = null, filename = null, content_type: contentType = null, checksum = null } = record;
    const sizeBytes = wholeNumberOf(record.byte_size);
    if (key === null || sizeBytes === undefined || sizeBytes < 0) return id;
    return {
      id,
      filename: String(filename ?? ""),
      contentType: contentType === null ? null : String(contentType),
      sizeBytes,
      checksum: checksum === null || checksum === "" ? null : String(checksum),
      service: String(record.service_name ?? "local"),
      key: String(key),
    };
  });
}
