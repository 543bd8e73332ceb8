import { setImmediate as nextTurn } from "node:timers/promises";
import { textOf, wholeNumberOf } from "./cells.ts";
import type { Lockbox, LockboxColumn } from "./lockbox.ts";
import type { ImportSource, SourceRow } from "./source.ts";
import type { SourceQueries } from "./store/queries.ts";
import { SourceReadError, type SourceRecord, unlessDamaged } from "./store/source-rows.ts";
import { underDefaultKey } from "./warnings.ts";

/** What the readers of all kinds of rows use. */
export interface ReaderContext {
  readonly queries: SourceQueries;
  readonly lockbox: Lockbox;
  readonly warn: ImportSource["warn"];
}

export interface BatchQueries<Row> {
  /** `id` of the next rows, in order. */
  ids(afterId: number, limit: number): Promise<readonly SourceRecord[]>;
  /** `id` and `bytes` of these rows. @throws SourceReadError if one of them is damaged. */
  sizes(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  /** The rows of these ids, in order. @throws SourceReadError if one of them is damaged. */
  fetch(ids: readonly number[]): Promise<readonly SourceRow<Row>[]>;
}

export const pageRows = 1_000;

export function batchesOf(queries: SourceQueries, table: "users" | "pushes") {
  return {
    ids: (afterId: number, limit: number) => queries.page(table, [], afterId, limit),
    sizes: (ids: readonly number[]) => queries.sizes(table, ids),
  };
}

/**
 * Opens the encrypted cells of one row, and warns once if the published default key opens one of them. NULL and "" are not
 * encrypted. undefined: no key opens the value.
 */
export function openerOf({ lockbox, warn }: ReaderContext, table: LockboxColumn["table"], record: SourceRecord) {
  let isWarned = false;
  return (column: string): string | null | undefined => {
    const sealed = textOf(record[column]);
    if (sealed === null || sealed === "") return sealed;
    const opened = lockbox.open({ table, column }, sealed);
    if (opened?.underDefaultKey === true && !isWarned) {
      warn(underDefaultKey[table], wholeNumberOf(record.id) ?? 0);
      isWarned = true;
    }
    return opened?.text;
  };
}

export function byId(records: readonly SourceRecord[], column: string): ReadonlyMap<number, readonly SourceRecord[]> {
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

/** All queries see one snapshot, so an id without a row means a damaged index. */
export const onlyInIndex = "The index of the database lists it, but its row is missing.";

const batchRows = 100;
/** Bound of one batch; a single larger row is still read. */
const batchBytes = 4 * 1024 ** 2;
/** The widest column for a payload in the three engines. The source's limit results in 6 MB. */
const rowBytesMax = 17 * 1024 ** 2;

interface Size {
  readonly id: number;
  readonly bytes: number;
}

/** Pages of a table in the order of its ids. @param read the next page, of `pageRows` rows unless it is the last one. */
export async function* pagesAfter(afterId: number, read: (afterId: number) => Promise<readonly SourceRecord[]>) {
  for (let last: number | undefined = afterId; last !== undefined; ) {
    const page = await read(last);
    yield page;
    // Undefined: greater than all ids that can be recorded.
    last = page.length < pageRows ? undefined : wholeNumberOf(page.at(-1)?.id);
  }
}

/** Reads rows in the order of ids: first their sizes, then batches that fit into memory. */
export async function* readInBatches<Row>(
  queries: BatchQueries<Row>,
  afterId: number,
): AsyncGenerator<SourceRow<Row>, void, undefined> {
  for await (const page of pagesAfter(afterId, (last) => queries.ids(last, pageRows))) {
    const ids = page.map((record) => wholeNumberOf(record.id)).filter((id) => id !== undefined);
    for (const batch of groupsOf(await sizesOf(queries, ids))) {
      yield* readBatch(queries, batch);
      // Reading SQLite never yields to the event loop, and OpenSSL's memory is freed only in the event loop.
      await nextTurn();
    }
    // Such an id is greater than all exact ones, so it comes last.
    for (const { id } of page.filter((record) => wholeNumberOf(record.id) === undefined)) {
      const reason = "Its number (id) is greater than any that can be recorded here.";
      yield { outcome: "unreadable", id: Number(id), reason };
    }
  }
}

/** If a size cannot be read, each row gets a batch of its own. */
async function sizesOf<Row>(queries: BatchQueries<Row>, ids: readonly number[]): Promise<readonly Size[]> {
  const read = async () => {
    const bytes = new Map((await queries.sizes(ids)).map(({ id, bytes }) => [wholeNumberOf(id), wholeNumberOf(bytes)]));
    return ids.map((id) => ({ id, bytes: bytes.get(id) ?? 0 }));
  };
  return await unlessDamaged<readonly Size[]>(read(), () => ids.map((id) => ({ id, bytes: batchBytes })));
}

function* groupsOf(sizes: readonly Size[]): Generator<readonly Size[]> {
  let batch: Size[] = [];
  let bytes = 0;
  for (const size of sizes) {
    if (batch.length > 0 && (batch.length === batchRows || bytes + size.bytes > batchBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(size);
    bytes += size.bytes;
  }
  if (batch.length > 0) yield batch;
}

/** If the database cannot read a batch, its rows are read one by one to find the damaged one. */
async function* readBatch<Row>(
  queries: BatchQueries<Row>,
  batch: readonly Size[],
): AsyncGenerator<SourceRow<Row>, void, undefined> {
  const [first] = batch;
  if (first !== undefined && first.bytes > rowBytesMax) {
    const reason = `Its encrypted columns have ${first.bytes} bytes, which is more than the source can store.`;
    yield { outcome: "unreadable", id: first.id, reason };
    return;
  }
  const rows = await unlessDamaged<readonly SourceRow<Row>[] | SourceReadError>(
    queries.fetch(batch.map(({ id }) => id)),
    (error) => error,
  );
  if (!(rows instanceof SourceReadError)) yield* rows;
  else if (batch.length > 1) for (const size of batch) yield* readBatch(queries, [size]);
  else
    for (const { id } of batch)
      yield { outcome: "unreadable", id, reason: `The database cannot read it (${rows.damage}).` };
}
