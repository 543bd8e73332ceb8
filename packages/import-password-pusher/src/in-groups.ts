import { setImmediate as nextTurn } from "node:timers/promises";
import type { PushPart, SourceRow, UserPart } from "../../../src/import/source.ts";
import { wholeNumberOf } from "./cells.ts";
import { SourceReadError, type SourceRecord } from "./store/source-rows.ts";

/** How rows of one table are asked for. */
export interface GroupedReading<Row, Part extends UserPart | PushPart> {
  /** `id` of the rows after this one, in order. */
  ids(afterId: number, limit: number): Promise<readonly SourceRecord[]>;
  /** `id` and `bytes` of these rows. @throws SourceReadError when one of them is damaged. */
  sizes(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  /** The rows of these ids, in their order. @throws SourceReadError when one of them is damaged. */
  fetch(ids: readonly number[]): Promise<readonly SourceRow<Row, Part>[]>;
}

const pageIds = 1_000;
const groupRows = 100;
/** What is read at once; a single row may have more. */
const groupBytes = 4 * 1024 ** 2;
/** The widest column that any of the three engines has for a payload; real ones end at 6 MB. */
const rowBytesMax = 17 * 1024 ** 2;

interface Size {
  readonly id: number;
  readonly bytes: number;
}

/** In the order of ids: first how large the rows are, then as many at once as memory likes. */
export async function* readInGroups<Row, Part extends UserPart | PushPart>(
  reading: GroupedReading<Row, Part>,
  afterId: number,
): AsyncGenerator<SourceRow<Row, Part>, void, undefined> {
  for (let last = afterId; ; ) {
    const page = await reading.ids(last, pageIds);
    const ids = page.map((record) => wholeNumberOf(record.id)).filter((id) => id !== undefined);
    for (const group of groupsOf(await sizesOf(reading, ids))) {
      yield* readGroup(reading, group);
      // Reading from a file waits for nothing, and what OpenSSL was lent comes back between turns of the loop alone.
      await nextTurn();
    }
    // Such an id is greater than all that are exact.
    for (const record of page) if (wholeNumberOf(record.id) === undefined) yield unexact(record);
    if (ids.length < pageIds) return;
    last = ids.at(-1) ?? last;
  }
}

/** Where one of them cannot be told, each row is read by itself. */
async function sizesOf<Row, Part extends UserPart | PushPart>(
  reading: GroupedReading<Row, Part>,
  ids: readonly number[],
): Promise<readonly Size[]> {
  try {
    const bytes = new Map((await reading.sizes(ids)).map((record) => [idOf(record), wholeNumberOf(record.bytes)]));
    return ids.map((id) => ({ id, bytes: bytes.get(id) ?? 0 }));
  } catch (error) {
    if (error instanceof SourceReadError) return ids.map((id) => ({ id, bytes: groupBytes }));
    throw error;
  }
}

function unexact({ id }: SourceRecord) {
  const reason = "Its number (id) is greater than any that can be noted here.";
  return { outcome: "unreadable" as const, id: Number(id), reason };
}

function idOf(record: SourceRecord): number {
  const id = wholeNumberOf(record.id);
  if (id === undefined) throw new SourceReadError("a row without a number", undefined);
  return id;
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

/** A row that the database cannot read is found by reading the rows of its group one by one. */
async function* readGroup<Row, Part extends UserPart | PushPart>(
  reading: GroupedReading<Row, Part>,
  group: readonly Size[],
): AsyncGenerator<SourceRow<Row, Part>, void, undefined> {
  const [first] = group;
  if (first !== undefined && first.bytes > rowBytesMax) {
    const reason = `Its sealed columns have ${first.bytes} bytes, more than any that was ever stored.`;
    yield { outcome: "unreadable", id: first.id, reason };
    return;
  }
  const rows = await reading
    .fetch(group.map(({ id }) => id))
    .catch((error: unknown) => (error instanceof SourceReadError ? error : Promise.reject(error)));
  if (!(rows instanceof SourceReadError)) yield* rows;
  else if (group.length > 1) for (const size of group) yield* readGroup(reading, [size]);
  else
    for (const { id } of group)
      yield { outcome: "unreadable", id, reason: `The database cannot read it (${rows.damage}).` };
}
