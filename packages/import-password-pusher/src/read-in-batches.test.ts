import { expect, it } from "vitest";
import { readInBatches } from "./read-in-batches.ts";
import type { SourceRow } from "./source.ts";
import { SourceReadError } from "./store/source-rows.ts";

const mebibyte = 1024 ** 2;

/** A table whose rows have a size that depends on their id. */
function tableOf(count: number, bytesOf: (id: number) => number) {
  const fetched: number[][] = [];
  let lists = 0;
  return {
    fetched,
    lists: () => lists,
    reading: {
      async ids(afterId: number, limit: number) {
        lists += 1;
        const length = Math.min(limit, Math.max(0, count - afterId));
        return Array.from({ length }, (_, at) => ({ id: afterId + at + 1 }));
      },
      sizes: async (ids: readonly number[]) => ids.map((id) => ({ id, bytes: String(bytesOf(id)) })),
      async fetch(ids: readonly number[]): Promise<readonly SourceRow<number>[]> {
        fetched.push([...ids]);
        return ids.map((id) => ({ outcome: "read", id, row: id, missingParts: [] }));
      },
    },
  };
}

it("reads a hundred thousand rows with a few MiB at once", async () => {
  const bytesOf = (id: number) => (id % 10_000 === 0 ? 6 * mebibyte : id % 100 === 0 ? mebibyte : 300);
  const table = tableOf(100_000, bytesOf);
  let next = 1;
  for await (const { id } of readInBatches(table.reading, 0)) {
    expect(id).toBe(next);
    next += 1;
  }

  expect(next).toBe(100_001);
  expect(table.lists()).toBe(101);
  for (const group of table.fetched) {
    const bytes = group.reduce((sum, id) => sum + bytesOf(id), 0);
    expect(group.length === 1 || (bytes <= 4 * mebibyte && group.length <= 100)).toBe(true);
  }
});

it("does not fetch a row that is impossibly large", async () => {
  const table = tableOf(3, (id) => (id === 2 ? 200 * mebibyte : 10));
  const rows: SourceRow<number>[] = [];
  for await (const row of readInBatches(table.reading, 0)) rows.push(row);

  expect(rows.map(({ outcome }) => outcome)).toEqual(["read", "unreadable", "read"]);
  expect(table.fetched).toEqual([[1], [3]]);
});

it("finds the damaged row of a batch, even if sizes cannot be read", async () => {
  const damaged = (ids: readonly number[]) => {
    if (ids.includes(42)) throw new SourceReadError("SQLITE_CORRUPT", undefined);
  };
  const table = tableOf(50, () => 10);
  const reading = {
    ...table.reading,
    async sizes(ids: readonly number[]) {
      damaged(ids);
      return await table.reading.sizes(ids);
    },
    async fetch(ids: readonly number[]) {
      damaged(ids);
      return await table.reading.fetch(ids);
    },
  };
  const rows: SourceRow<number>[] = [];
  for await (const row of readInBatches(reading, 0)) rows.push(row);

  expect(rows).toHaveLength(50);
  expect(rows.filter(({ outcome }) => outcome !== "read")).toEqual([
    { outcome: "unreadable", id: 42, reason: "The database cannot read it (SQLITE_CORRUPT)." },
  ]);
});
