import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import SqliteDriver from "better-sqlite3";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { makeFolder } from "../../../test/support/folders.ts";
import type { Checkpoint } from "./checkpoint-thread.ts";
import { CheckpointThread, LogTruncation } from "./log-truncation.ts";
import { makeItems, makeTestDatabase } from "./test-support.ts";

// Fakes only the timers of the truncation: the database's writes run in real time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A log whose checkpoints return the given answers, and which ran in the background and at once. */
function madeLog(answer: () => boolean) {
  const failures: unknown[] = [];
  const ran = { inBackground: [] as Checkpoint[], atOnce: 0 };
  const inBackground = (checkpoint: Checkpoint) => {
    ran.inBackground.push(checkpoint);
    return answer();
  };
  const atOnce = () => {
    ran.atOnce += 1;
    return answer();
  };
  const truncation = new LogTruncation(inBackground, atOnce, (error) => failures.push(error));
  onTestFinished(() => truncation.close());
  return { truncation, failures, ran };
}

const times = (count: number, checkpoint: Checkpoint) => Array.from({ length: count }, () => checkpoint);

test("a second after the first of many commits the log begins anew, and it is truncated a second after the last one", async () => {
  const { truncation, ran } = madeLog(() => true);
  for (let commits = 0; commits < 100; commits += 1) truncation.request();
  await vi.advanceTimersByTimeAsync(999);
  expect(ran.inBackground).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ran.inBackground).toEqual(["restart"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ran.inBackground).toEqual(["restart", "truncate"]);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(ran.inBackground).toHaveLength(2);
});

test("while commits arrive all the time, the log is truncated every ten seconds", async () => {
  const { truncation, ran } = madeLog(() => true);
  for (let seconds = 0; seconds < 20; seconds += 1) {
    truncation.request();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  const tenSeconds: Checkpoint[] = [...times(9, "restart"), "truncate"];
  expect(ran.inBackground).toEqual([...tenSeconds, ...tenSeconds]);
});

test("a truncation that did not succeed is repeated each second, whatever arrives meanwhile", async () => {
  let answer = false;
  const { truncation, ran } = madeLog(() => answer);
  for (let seconds = 0; seconds < 3; seconds += 1) {
    truncation.request();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(ran).toEqual({ inBackground: ["restart", ...times(2, "restart")], atOnce: 1 });
  await vi.advanceTimersByTimeAsync(1_000);
  truncation.request();
  answer = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ran.inBackground.slice(3)).toEqual(times(2, "truncate"));
});

test("overwritten bytes are in no file ten seconds later, although commits arrive all the time", async () => {
  const path = join(makeFolder(), "busy.sqlite3");
  const connection = new SqliteDriver(path);
  onTestFinished(() => {
    connection.close();
  });
  connection.pragma("journal_mode = WAL");
  connection.pragma("secure_delete = ON");
  connection.exec(
    "CREATE TABLE secrets (id INTEGER PRIMARY KEY, sealed BLOB); CREATE TABLE others (id INTEGER PRIMARY KEY)",
  );
  const run = (checkpoint: Checkpoint) =>
    (connection.prepare(`PRAGMA wal_checkpoint(${checkpoint})`).get() as { busy: number }).busy === 0;
  const truncation = new LogTruncation(
    run,
    () => run("truncate"),
    () => undefined,
  );
  onTestFinished(() => truncation.close());
  const needle = Buffer.from("the overwritten secret");
  // The log keeps these images behind the commits of each second.
  connection.exec("BEGIN");
  for (let rows = 0; rows < 2_000; rows += 1) connection.prepare("INSERT INTO secrets (sealed) VALUES (?)").run(needle);
  connection.exec("COMMIT; UPDATE secrets SET sealed = zeroblob(length(sealed))");
  const isFound = () => [path, `${path}-wal`].some((file) => readFileSync(file).includes(needle));
  for (let seconds = 1; seconds <= 10; seconds += 1) {
    expect(isFound()).toBe(true);
    connection.exec("INSERT INTO others DEFAULT VALUES");
    truncation.request();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(isFound()).toBe(false);
});

test("the log is truncated at the start and then every minute, for processes that could not do it", async () => {
  const { ran } = madeLog(() => true);
  expect(ran).toEqual({ inBackground: [], atOnce: 1 });
  await vi.advanceTimersByTimeAsync(180_000);
  expect(ran).toEqual({ inBackground: times(3, "truncate"), atOnce: 1 });
});

test("while the log is held or cannot be truncated, truncation is retried every second", async () => {
  let answer: () => boolean = () => false;
  const { failures, ran } = madeLog(() => answer());
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ran).toEqual({ inBackground: times(2, "truncate"), atOnce: 1 });
  answer = () => {
    throw new Error("disk full");
  };
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failures).toHaveLength(2);
  answer = () => true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ran.inBackground).toEqual(times(5, "truncate"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ran.inBackground).toEqual(times(5, "truncate"));
});

test("a checkpoint that takes longer than a second runs once, and what was written meanwhile causes another one", async () => {
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
  const { truncation, ran } = madeLog(() => true);
  truncation.request();
  await truncation.close();
  await truncation.close();
  expect(ran).toEqual({ inBackground: [], atOnce: 2 });
  truncation.request();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(ran).toEqual({ inBackground: [], atOnce: 2 });
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
  const refused = thread.run("truncate");
  await items.insert(3);
  expect(await refused).toBe(false);
  reader.exec("COMMIT");
  expect(await thread.run("truncate")).toBe(true);
  expect(statSync(`${path}-wal`).size).toBe(0);
  expect(items.ids()).toEqual([1, 2, 3]);
});

test("after a restart by the thread, the next commit writes to the begin of the log, which keeps its length", async () => {
  vi.useRealTimers();
  const { db, path } = makeTestDatabase();
  const items = makeItems(db);
  for (let id = 1; id <= 20; id += 1) await items.insert(id);
  const thread = new CheckpointThread(path);
  onTestFinished(() => thread.close());
  const { size } = statSync(`${path}-wal`);
  expect(size).toBeGreaterThan(0);
  expect(await thread.run("restart")).toBe(true);
  await items.insert(21);
  expect(statSync(`${path}-wal`).size).toBe(size);
  expect(await thread.run("truncate")).toBe(true);
  expect(statSync(`${path}-wal`).size).toBe(0);
});

test("a thread that cannot open the database or truncate its log says why, and works once it can", async () => {
  const folder = makeFolder();
  const path = join(folder, "later.sqlite3");
  const thread = new CheckpointThread(path);
  onTestFinished(() => thread.close());
  await expect(thread.run("truncate")).rejects.toThrow(/unable to open/);
  writeFileSync(path, "A diary. ".repeat(1_000));
  await expect(thread.run("truncate")).rejects.toThrow(/not a database|SQLITE_NOTADB/);
  rmSync(path);
  makeTestDatabase({ path });
  expect(await thread.run("truncate")).toBe(true);
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
