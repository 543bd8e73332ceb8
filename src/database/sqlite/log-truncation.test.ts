import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import SqliteDriver from "better-sqlite3";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { makeFolder } from "../../../test/support/folders.ts";
import { CheckpointThread, LogTruncation } from "./log-truncation.ts";
import { makeItems, makeTestDatabase } from "./test-support.ts";

// Fakes only the timers of the truncation: the database's writes run in real time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A log whose `truncate` returns the given answers and counts its calls. */
function madeLog(answer: () => boolean) {
  const failures: unknown[] = [];
  const cuts = { inBackground: 0, atOnce: 0 };
  const truncate = (where: keyof typeof cuts) => () => {
    cuts[where] += 1;
    return answer();
  };
  const truncation = new LogTruncation(truncate("inBackground"), truncate("atOnce"), (error) => failures.push(error));
  onTestFinished(() => truncation.close());
  return { truncation, failures, cuts };
}

test("many requests cause one truncation, a second after the first", async () => {
  const { truncation, cuts } = madeLog(() => true);
  for (let times = 0; times < 100; times += 1) truncation.request();
  await vi.advanceTimersByTimeAsync(999);
  expect(cuts.inBackground).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(cuts.inBackground).toBe(1);
});

test("the log is truncated at the start and then every minute, for processes that could not do it", async () => {
  const { cuts } = madeLog(() => true);
  expect(cuts).toEqual({ inBackground: 0, atOnce: 1 });
  await vi.advanceTimersByTimeAsync(180_000);
  expect(cuts).toEqual({ inBackground: 3, atOnce: 1 });
});

test("while the log is held or cannot be truncated, truncation is retried every second", async () => {
  let answer: () => boolean = () => false;
  const { failures, cuts } = madeLog(() => answer());
  await vi.advanceTimersByTimeAsync(2_000);
  expect(cuts).toEqual({ inBackground: 2, atOnce: 1 });
  answer = () => {
    throw new Error("disk full");
  };
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failures).toHaveLength(2);
  answer = () => true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(cuts.inBackground).toBe(5);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(cuts.inBackground).toBe(5);
});

test("a truncation that takes longer than a second runs once, and what was written meanwhile causes another one", async () => {
  const running: (() => void)[] = [];
  const truncate = () => new Promise<boolean>((resolve) => running.push(() => resolve(true)));
  const truncation = new LogTruncation(
    truncate,
    () => true,
    () => undefined,
  );
  truncation.request();
  await vi.advanceTimersByTimeAsync(1_000);
  truncation.request();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(running).toHaveLength(1);
  running[0]?.();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(running).toHaveLength(2);
  running[1]?.();
  await truncation.close();
});

test("closing runs a pending truncation at once, and nothing runs afterwards", async () => {
  const { truncation, cuts } = madeLog(() => true);
  truncation.request();
  await truncation.close();
  await truncation.close();
  expect(cuts).toEqual({ inBackground: 0, atOnce: 2 });
  truncation.request();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(cuts).toEqual({ inBackground: 0, atOnce: 2 });
});

test("the thread truncates the log as soon as no reader holds it, and writes go on meanwhile", async () => {
  // A writer that finds the log locked tries again later.
  vi.useRealTimers();
  const { db, path } = makeTestDatabase();
  const items = makeItems(db);
  await items.insert(1);
  const thread = new CheckpointThread(path);
  onTestFinished(() => thread.close());
  const reader = new SqliteDriver(path);
  onTestFinished(() => {
    reader.close();
  });
  reader.exec("BEGIN; SELECT count(*) FROM items");
  await items.insert(2);
  const refused = thread.truncate();
  await items.insert(3);
  expect(await refused).toBe(false);
  reader.exec("COMMIT");
  expect(await thread.truncate()).toBe(true);
  expect(statSync(`${path}-wal`).size).toBe(0);
  expect(items.ids()).toEqual([1, 2, 3]);
});

test("a thread that cannot open the database or truncate its log says why, and works once it can", async () => {
  const folder = makeFolder();
  const path = join(folder, "later.sqlite3");
  const thread = new CheckpointThread(path);
  onTestFinished(() => thread.close());
  await expect(thread.truncate()).rejects.toThrow(/unable to open/);
  writeFileSync(path, "A diary. ".repeat(1_000));
  await expect(thread.truncate()).rejects.toThrow(/not a database|SQLITE_NOTADB/);
  rmSync(path);
  makeTestDatabase({ path });
  expect(await thread.truncate()).toBe(true);
});

test("a reader that holds the log delays the truncation until it releases the log", async () => {
  const { db, path } = makeTestDatabase();
  const items = makeItems(db);
  await items.insert(1);
  const logBytes = () => statSync(`${path}-wal`).size;
  const reader = new SqliteDriver(path);
  onTestFinished(() => {
    reader.close();
  });
  reader.exec("BEGIN; SELECT count(*) FROM items");
  await items.insert(2);

  const truncateLog = () => db.truncateLog();
  const truncation = new LogTruncation(truncateLog, truncateLog, () => undefined);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(logBytes()).toBeGreaterThan(0);
  reader.exec("COMMIT");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(logBytes()).toBe(0);
  expect(items.ids()).toEqual([1, 2]);
  await truncation.close();
});
