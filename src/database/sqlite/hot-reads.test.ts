import { expect, test } from "vitest";
import { sql } from "../statement.ts";
import { makeItems, makeTestDatabase } from "./test-support.ts";

const itemById = sql<[number], { id: number }>("SELECT id FROM items WHERE id = ?");

test("reads of one turn are all answered with the committed rows", async () => {
  const { db } = makeTestDatabase();
  const items = makeItems(db);
  const find = (id: number) => db.hot.read(itemById, id);
  await items.insert(1);
  const before = await Promise.all([find(1), find(2)]);
  expect(before).toEqual([{ id: 1 }, undefined]);
  await items.insert(2);
  expect(await find(2)).toEqual({ id: 2 });
  expect(db.writer.inTransaction).toBe(false);
});

test("more reads than one batch holds are answered, each with its own row", async () => {
  const { db } = makeTestDatabase();
  const items = makeItems(db);
  await items.insertMany(1, 1_000);
  const find = (id: number) => db.hot.read(itemById, id);
  const ids = Array.from({ length: 1_000 }, (_, at) => at + 1);
  expect(await Promise.all(ids.map((id) => find(id)))).toEqual(ids.map((id) => ({ id })));
});

test("rows that the writer has not committed are never read", async () => {
  const { db } = makeTestDatabase();
  const items = makeItems(db);
  const find = (id: number) => db.hot.read(itemById, id);
  db.writer.exec("BEGIN IMMEDIATE");
  items.insertNow(1);
  expect(await find(1)).toBeUndefined();
  expect(db.writer.inTransaction).toBe(true);
  db.writer.exec("ROLLBACK");
});

test("a failing read fails alone", async () => {
  const { db } = makeTestDatabase();
  const items = makeItems(db);
  await items.insert(1);
  const find = (id: number) => db.hot.read(itemById, id);
  const broken = (parameter: number) =>
    db.hot.read(sql<[number], { value: number }>("SELECT json_extract('{', '$.' || ?)"), parameter);
  const [found, failed, again] = await Promise.allSettled([find(1), broken(1), find(1)]);
  expect(found).toEqual({ status: "fulfilled", value: { id: 1 } });
  expect(failed.status).toBe("rejected");
  expect(again).toEqual({ status: "fulfilled", value: { id: 1 } });
  await items.insert(2);
});

test("closing answers the waiting reads", async () => {
  const { db } = makeTestDatabase();
  const items = makeItems(db);
  await items.insert(1);
  const find = (id: number) => db.hot.read(itemById, id);
  const found = find(1);
  await db.close();
  expect(await found).toEqual({ id: 1 });
});

test("the number of waiting reads is bounded", async () => {
  const { db } = makeTestDatabase();
  makeItems(db);
  const find = (id: number) => db.hot.read(itemById, id);
  const found = await Promise.allSettled(Array.from({ length: 20_001 }, (_, at) => find(at)));
  expect(found.at(-2)?.status).toBe("fulfilled");
  expect(found.at(-1)).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
});
