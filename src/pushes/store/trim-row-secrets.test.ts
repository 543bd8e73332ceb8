import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { filesIn, NeedleFinder } from "../../../test/support/raw-files.ts";
import { SeededNumbers } from "../../../test/support/seeded-numbers.ts";
import { makeTestDatabase } from "../../database/sqlite/test-support.ts";
import { createPushStore } from "./push-store.ts";

/** The width of a sealed row secret. */
const keyBytes = 77;

/** Only the table of row secrets, and every secret that it ever contained. */
function makeKeys() {
  const { db, path } = makeTestDatabase();
  const { upkeep } = createPushStore(db);
  const insert = db.writer.prepare("INSERT INTO row_secrets (sealed) VALUES (?)");
  const overwrite = db.writer.prepare("UPDATE row_secrets SET sealed = zeroblob(length(sealed)) WHERE id = ?");
  const rowIds = db.reader.prepare<[], { id: number }>("SELECT id FROM row_secrets ORDER BY id");
  const finder = new NeedleFinder<number>();
  const live = new Set<number>();
  return {
    live,
    rowIds: () => rowIds.all().map((row) => row.id),
    add: (count: number) =>
      db.write(() => {
        for (let made = 0; made < count; made += 1) {
          const key = randomBytes(keyBytes);
          const id = Number(insert.run(key).lastInsertRowid);
          finder.add(id, key);
          live.add(id);
        }
      }),
    end: (ids: readonly number[]) =>
      db.write(() => {
        for (const id of ids) {
          overwrite.run(id);
          live.delete(id);
        }
      }),
    async trim(limit: number) {
      let trimmed = 0;
      for (let done = await upkeep.trimRowSecrets(limit); done > 0; done = await upkeep.trimRowSecrets(limit))
        trimmed += done;
      return trimmed;
    },
    /** Ids of keys of which any part is in any file. */
    found() {
      while (!db.truncateLog());
      const files = [...filesIn(dirname(path)).values()];
      return new Set(files.flatMap((bytes) => [...finder.search(bytes)]));
    },
  };
}

test("trimming the overwritten rows at the head never leaves a copy of a live neighbour", async () => {
  const numbers = new SeededNumbers(7);
  const keys = makeKeys();
  let trimmed = 0;
  for (let round = 0; round < 25; round += 1) {
    await keys.add(200 + numbers.below(400));
    const rows = [...keys.live];
    // Destroy a run of keys at the head, and some after it.
    const head = rows.slice(0, numbers.below(rows.length));
    await keys.end([...head, ...rows.slice(head.length).filter(() => numbers.below(3) === 0)]);
    trimmed += await keys.trim(1 + numbers.below(500));
    expect(keys.found()).toEqual(keys.live);
  }
  expect(trimmed).toBeGreaterThan(1_000);
});

test("the table shrinks with its live keys, except the rows that shield them", async () => {
  const keys = makeKeys();
  await keys.add(3_000);
  const rows = [...keys.live];
  await keys.end(rows.slice(0, 2_000));
  await keys.trim(500);
  expect(keys.rowIds()[0]).toBe(2_000 - 256 + 1);
  await keys.end(rows.slice(2_000));
  await keys.trim(500);
  expect(keys.rowIds()).toHaveLength(256);
  // A live key at the head prevents trimming after it.
  await keys.add(1_000);
  await keys.end([...keys.live].slice(1));
  await keys.trim(500);
  expect(keys.rowIds()).toHaveLength(256 + 1_000);
  expect(await keys.trim(500)).toBe(0);
});
