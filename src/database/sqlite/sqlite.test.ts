import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import SqliteDriver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/support/folders.ts";
import { createIds } from "../ids.ts";
import { openSqlite } from "./sqlite.ts";
import { makeItems, makeTestDatabase } from "./test-support.ts";

function reopen(path: string) {
  return openSqlite({
    path,
    monotonicMs: () => 0,
    onStorageFailure: () => undefined,
    onTruncationFailed: () => undefined,
  });
}

test("both connections have the settings for durability and secure deletion", () => {
  const { db } = makeTestDatabase();
  const pragma = (name: string) =>
    [db.writer, db.reader].map((connection) => connection.pragma(name, { simple: true }));
  expect(pragma("journal_mode")).toEqual(["wal", "wal"]);
  // SQLite syncs around checkpoints. LogSync syncs the commits.
  const normal = 1;
  expect(pragma("synchronous")).toEqual([normal, normal]);
  expect(pragma("secure_delete")).toEqual([1, 1]);
  expect(pragma("foreign_keys")).toEqual([1, 1]);
  const memory = 2;
  expect(pragma("temp_store")).toEqual([memory, memory]);
  expect(pragma("query_only")).toEqual([0, 1]);
  // The writer waits on a timer, never inside the driver.
  expect(db.writer.pragma("busy_timeout", { simple: true })).toBe(0);
  expect(() => db.reader.exec("DELETE FROM meta")).toThrow(/readonly/);
});

test("only the server's own user can read the files", async () => {
  const { db, path } = makeTestDatabase();
  await makeItems(db).insert(1);
  const modes = readdirSync(dirname(path)).map((name) => [name, statSync(join(dirname(path), name)).mode & 0o777]);
  expect(modes).toEqual([
    ["test.sqlite3", 0o600],
    ["test.sqlite3-shm", 0o600],
    ["test.sqlite3-wal", 0o600],
  ]);
});

test("the database of a Password Pusher is refused with a sentence, and no table is created in it", () => {
  const path = join(makeFolder(), "production.sqlite3");
  const other = new SqliteDriver(path);
  onTestFinished(() => {
    other.close();
  });
  other.exec("CREATE TABLE schema_migrations (version TEXT PRIMARY KEY)");
  expect(() => reopen(path)).toThrow(/holds the tables of another program/);
  expect(other.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()).toEqual([
    { name: "schema_migrations" },
  ]);
});

test("reopening keeps the rows", async () => {
  const path = join(makeFolder(), "again.sqlite3");
  const first = reopen(path);
  await makeItems(first).insert(7);
  await first.close();
  const second = reopen(path);
  expect(makeItems(second).ids()).toEqual([7]);
  await second.close();
});

test("ids are issued once, across processes and restarts", async () => {
  const { db, path } = makeTestDatabase();
  const other = makeTestDatabase({ path });
  const many = (ids: { next(): Promise<number> }) => Promise.all(Array.from({ length: 1_500 }, () => ids.next()));
  const here = createIds(db, "pushes");
  const given = (await Promise.all([many(here), many(createIds(other.db, "pushes"))])).flat();
  given.push(...(await many(createIds(db, "pushes"))), await here.next());
  expect(new Set(given).size).toBe(given.length);
  expect(Math.min(...given)).toBe(1);
  expect(await createIds(db, "other ids").next()).toBe(1);
});

test("a failed reservation of ids rejects the waiting calls and is retried for the next", async () => {
  const { db } = makeTestDatabase();
  const ids = createIds(db, "pushes");
  db.writer.pragma("query_only = ON");
  const asked = await Promise.allSettled([ids.next(), ids.next()]);
  expect(asked.map((id) => id.status)).toEqual(["rejected", "rejected"]);
  db.writer.pragma("query_only = OFF");
  expect(await ids.next()).toBe(1);
});
