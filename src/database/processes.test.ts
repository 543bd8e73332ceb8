import { expect, test } from "vitest";
import { createProcessRegistry, heartbeatMs, readKeyMarks } from "./processes.ts";
import { makeTestDatabase } from "./sqlite/test-support.ts";

const first = { id: "a", activeKeyId: "11111111", keyIds: ["11111111", "22222222"] };
const second = { id: "b", activeKeyId: "22222222", keyIds: ["22222222"] };

test("a process counts as running while its heartbeats arrive", async () => {
  const { db } = makeTestDatabase();
  const registry = createProcessRegistry(db);
  const start = 1_000_000;
  await Promise.all([registry.beat(first, start), registry.beat(second, start)]);
  expect(await registry.running(start)).toEqual([first, second]);
  await registry.beat(second, start + 3 * heartbeatMs);
  expect(await registry.running(start + 3 * heartbeatMs)).toEqual([first, second]);
  expect(await registry.running(start + 4 * heartbeatMs)).toEqual([second]);
  await registry.remove("b");
  expect(await registry.running(start + 4 * heartbeatMs)).toEqual([]);
});

test("each beat marks the key that the process seals under as in use", async () => {
  const { db } = makeTestDatabase();
  const registry = createProcessRegistry(db);
  await registry.beat(first, 5_000);
  await registry.beat(second, 5_000);
  expect(await readKeyMarks(db.read)).toEqual([
    { keyId: "11111111", markedAt: "5000" },
    { keyId: "22222222", markedAt: "5000" },
  ]);
  await registry.beat(first, 6_000);
  expect((await readKeyMarks(db.read))[0]).toEqual({ keyId: "11111111", markedAt: "6000" });
});
