import { statSync } from "node:fs";
import SqliteDriver from "better-sqlite3";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { LogTruncation } from "./log-truncation.ts";
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
  let cuts = 0;
  const truncateLog = () => {
    cuts += 1;
    return answer();
  };
  const truncation = new LogTruncation(truncateLog, (error) => failures.push(error));
  onTestFinished(() => truncation.close());
  return { truncation, failures, cuts: () => cuts };
}

test("many requests cause one truncation, a second after the first", () => {
  const { truncation, cuts } = madeLog(() => true);
  expect(cuts()).toBe(1);
  for (let times = 0; times < 100; times += 1) truncation.request();
  vi.advanceTimersByTime(999);
  expect(cuts()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(cuts()).toBe(2);
});

test("the log is truncated at the start and then every minute, for processes that could not do it", () => {
  const { cuts } = madeLog(() => true);
  expect(cuts()).toBe(1);
  vi.advanceTimersByTime(180_000);
  expect(cuts()).toBe(4);
});

test("while the log is held or cannot be truncated, truncation is retried every second", () => {
  let answer: () => boolean = () => false;
  const { failures, cuts } = madeLog(() => answer());
  vi.advanceTimersByTime(2_000);
  expect(cuts()).toBe(3);
  answer = () => {
    throw new Error("disk full");
  };
  vi.advanceTimersByTime(2_000);
  expect(failures).toHaveLength(2);
  answer = () => true;
  vi.advanceTimersByTime(1_000);
  expect(cuts()).toBe(6);
  vi.advanceTimersByTime(1_000);
  expect(cuts()).toBe(6);
});

test("closing runs a pending truncation at once, and nothing runs afterwards", () => {
  const { truncation, cuts } = madeLog(() => true);
  truncation.request();
  truncation.close();
  truncation.close();
  expect(cuts()).toBe(2);
  truncation.request();
  vi.advanceTimersByTime(600_000);
  expect(cuts()).toBe(2);
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

  const truncation = new LogTruncation(
    () => db.truncateLog(),
    () => undefined,
  );
  vi.advanceTimersByTime(5_000);
  expect(logBytes()).toBeGreaterThan(0);
  reader.exec("COMMIT");
  vi.advanceTimersByTime(1_000);
  expect(logBytes()).toBe(0);
  expect(items.ids()).toEqual([1, 2]);
  truncation.close();
});
