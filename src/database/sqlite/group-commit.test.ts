import SqliteDriver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import { sql, sqlOfSum } from "../statement.ts";
import { GroupCommit } from "./group-commit.ts";
import type { SyncFile } from "./log-sync.ts";
import { groupCommitLimits } from "./sqlite.ts";
import { makeItems, makeTestDatabase } from "./test-support.ts";

const unavailable = expect.objectContaining({ name: "AppError", code: "unavailable" });

/** Acts as another process: a connection that takes the write lock and keeps it. */
function holdWriteLock(path: string): { release(): void } {
  const other = new SqliteDriver(path);
  onTestFinished(() => {
    other.close();
  });
  other.exec("BEGIN IMMEDIATE");
  return { release: () => other.exec("COMMIT") };
}

/** A log in which every commit is durable at once. */
const syncedLog = { sync: () => Promise.resolve(), hasFailed: false };

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const nextTimer = () => new Promise((resolve) => setTimeout(resolve, 5));

/** What would end the process. The test runner's own listeners would fail the run. */
function nextUnhandledRejection(): Promise<unknown> {
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  return new Promise((resolve) => {
    process.once("unhandledRejection", (error) => {
      for (const listener of others) process.on("unhandledRejection", listener);
      resolve(error);
    });
  });
}

test("after a batch of several, writes of successive turns of the event loop share a commit, for a short time", async () => {
  let now = 0;
  const writer = new SqliteDriver(makeTestDatabase().path);
  onTestFinished(() => {
    writer.close();
  });
  const commits = new GroupCommit(writer, syncedLog, groupCommitLimits, {
    monotonicMs: () => now,
    onStorageFailure: () => undefined,
  });
  const write = () => commits.write(() => undefined);
  /** @param turnMs the time between two writes. @returns the number of commits. */
  const writeInTurns = async (turnMs: number): Promise<number> => {
    const before = commits.counts.commits;
    const writes: Promise<void>[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      writes.push(write());
      await nextTurn();
      now += turnMs;
    }
    await Promise.all(writes);
    return commits.counts.commits - before;
  };
  expect(await writeInTurns(0)).toBe(3);
  await Promise.all([write(), write()]);
  expect(await writeInTurns(0)).toBe(1);
  expect(await writeInTurns(10)).toBe(2);
});

test("writes that arrive together share one commit, and none is acknowledged before it", async () => {
  const { db } = makeTestDatabase();
  const items = makeItems(db);
  const before = db.counts.commits;
  const seenInside: number[][] = [];
  const writes = [1, 2, 3].map((id) =>
    db
      .write(() => {
        items.insertNow(id);
        seenInside.push(items.ids());
      })
      .then(() => items.ids()),
  );
  // The rows that a reader sees while the batch runs, and when each write is acknowledged.
  expect(await Promise.all(writes)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(seenInside).toEqual([[], [], []]);
  expect(db.counts).toMatchObject({ commits: before + 1, waiting: 0 });
});

test("during a sync, writes and reads wait for it, and later writes share the next one", async () => {
  const syncs: ((error: null) => void)[] = [];
  const { db } = makeTestDatabase({ syncLog: (_file, done) => syncs.push(done) });
  const items = makeItems(db);
  const settled: string[] = [];
  const note = (name: string) => () => settled.push(name);
  const first = items.insert(1).then(note("first"));
  while (syncs.length === 0) await nextTimer();
  const later = [2, 3].map((id) => items.insert(id).then(note("later")));
  const read = db.read.all(sql("SELECT id FROM items")).then((rows) => settled.push(`read ${rows.length}`));
  for (let turn = 0; turn < 5; turn += 1) await nextTimer();
  expect([settled, syncs.length, items.ids()]).toEqual([[], 1, [1]]);
  syncs[0]?.(null);
  await Promise.all([first, read]);
  while (syncs.length === 1) await nextTimer();
  expect(settled.toSorted()).toEqual(["first", "read 1"]);
  expect(items.ids()).toEqual([1, 2, 3]);
  syncs[1]?.(null);
  await Promise.all(later);
  expect(db.counts).toMatchObject({ transactions: 3, commits: 2 });
});

test("after a failed sync nothing is acknowledged or read any more, although later syncs would succeed", async () => {
  const syncs: Parameters<SyncFile>[1][] = [];
  const { db, failures } = makeTestDatabase({ syncLog: (_file, done) => syncs.push(done) });
  const items = makeItems(db);
  const ended = nextUnhandledRejection();
  const first = items.insert(1);
  while (syncs.length === 0) await nextTimer();
  const waiting = items.insert(2);
  const read = db.read.all(sql("SELECT id FROM items"));
  const eio = Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
  syncs[0]?.(eio);
  expect(await Promise.allSettled([first, waiting, read])).toEqual(
    Array(3).fill({ status: "rejected", reason: unavailable }),
  );
  // Ends the process.
  expect(await ended).toBe(eio);
  // The system forgets a failed sync: the next one reports success for pages that the disk never got.
  const later = Promise.allSettled([items.insert(3), db.read.all(sql("SELECT id FROM items")), db.truncateLog()]);
  for (let turn = 0; turn < 5; turn += 1) await nextTimer();
  for (const done of syncs.slice(1)) done(null);
  expect(await later).toEqual([
    { status: "rejected", reason: unavailable },
    { status: "rejected", reason: unavailable },
    { status: "fulfilled", value: false },
  ]);
  expect(syncs).toHaveLength(1);
  expect(failures).toEqual(["EIO"]);
});

test("only the write that violates a constraint or throws is undone", async () => {
  const { db, failures } = makeTestDatabase();
  const items = makeItems(db);
  const refusal = new AppError("forbidden", "No.");
  const [first, twice, thrown, last] = await Promise.allSettled([
    items.insert(1),
    db.write(() => {
      items.insertNow(2);
      items.insertNow(1);
    }),
    db.write(() => {
      items.insertNow(3);
      throw refusal;
    }),
    items.insert(4),
  ]);
  expect([first.status, last.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(twice).toMatchObject({ status: "rejected", reason: { code: "SQLITE_CONSTRAINT_PRIMARYKEY" } });
  expect(thrown).toEqual({ status: "rejected", reason: refusal });
  expect(items.ids()).toEqual([1, 4]);
  expect(failures).toEqual([]);
});

for (const [how, fill] of [
  // One row: SQLite rolls the transaction back. Many rows in one statement: it keeps the transaction open.
  ["which rolls the transaction back", (items: ReturnType<typeof makeItems>) => items.insert(2, 10_000_000)],
  ["in a statement that leaves it open", (items: ReturnType<typeof makeItems>) => items.insertMany(100, 4_000)],
] as const) {
  test(`a disk that becomes full within a batch, ${how}, fails every write and leaves nothing of the batch`, async () => {
    const { db, failures } = makeTestDatabase();
    const items = makeItems(db);
    await items.insert(99);
    const room = Number(db.writer.pragma("max_page_count", { simple: true }));
    db.writer.pragma(`max_page_count = ${Number(db.writer.pragma("page_count", { simple: true })) + 20}`);

    const batch = await Promise.allSettled([items.insert(1), fill(items), items.insert(3)]);
    expect(batch).toEqual(Array(3).fill({ status: "rejected", reason: unavailable }));
    expect(failures).toEqual(["SQLITE_FULL"]);
    expect(items.ids()).toEqual([99]);

    db.writer.pragma(`max_page_count = ${room}`);
    await Promise.all([items.insert(1), items.insert(2)]);
    expect(items.ids()).toEqual([1, 2, 99]);
    expect(db.reader.pragma("integrity_check", { simple: true })).toBe("ok");
  });
}

test("work that ignores the end of its transaction does not write outside of one", async () => {
  const { db } = makeTestDatabase();
  const items = makeItems(db);
  await items.insert(99);
  db.writer.pragma(`max_page_count = ${Number(db.writer.pragma("page_count", { simple: true })) + 20}`);
  const swallowing = db.write(() => {
    items.insertNow(1);
    expect(() => items.insertNow(2, 10_000_000)).toThrow();
  });
  const batch = await Promise.allSettled([swallowing, items.insert(3)]);
  expect(batch).toEqual(Array(2).fill({ status: "rejected", reason: unavailable }));
  expect(items.ids()).toEqual([99]);
});

test("while another process holds the write lock, writes wait without stopping the event loop", async () => {
  const { db, path, failures } = makeTestDatabase();
  const items = makeItems(db);
  const lock = holdWriteLock(path);
  let settled = false;
  const write = items.insert(1).finally(() => {
    settled = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await nextTimer();
  expect(settled).toBe(false);
  const later = items.insert(2);
  lock.release();
  await Promise.all([write, later]);
  expect(items.ids()).toEqual([1, 2]);
  expect(failures).toEqual([]);
});

test("a write that waited too long for the lock fails, a later one keeps waiting", async () => {
  const { db, path, failures, advance } = makeTestDatabase({ limits: { lockWaitMsMax: 1_000 } });
  const items = makeItems(db);
  const lock = holdWriteLock(path);
  const old = items.insert(1);
  advance(600);
  const young = items.insert(2);
  advance(600);
  await expect(old).rejects.toEqual(unavailable);
  expect(failures).toEqual(["SQLITE_BUSY"]);
  lock.release();
  await young;
  expect(items.ids()).toEqual([2]);
});

test("the batch size and the queue length are bounded", async () => {
  const { db } = makeTestDatabase({ limits: { batchMax: 2, waitingMax: 5 } });
  const items = makeItems(db);
  const before = db.counts.commits;
  const writes = await Promise.allSettled([1, 2, 3, 4, 5, 6].map((id) => items.insert(id)));
  expect(writes.map((write) => write.status)).toEqual([...Array(5).fill("fulfilled"), "rejected"]);
  expect(writes[5]).toMatchObject({ reason: { code: "unavailable" } });
  expect(db.counts.commits - before).toBe(3);
  expect(items.ids()).toEqual([1, 2, 3, 4, 5]);
});

test("a database that accepts no writes fails them as unavailable and can still be read", async () => {
  const { db, failures } = makeTestDatabase();
  const items = makeItems(db);
  await items.insert(1);
  db.writer.pragma("query_only = ON");
  expect(await Promise.allSettled([items.insert(2), items.insert(3)])).toEqual(
    Array(2).fill({ status: "rejected", reason: unavailable }),
  );
  expect(failures).toEqual(["SQLITE_READONLY"]);
  expect(items.ids()).toEqual([1]);
  db.writer.pragma("query_only = OFF");
  await items.insert(2);
  expect(items.ids()).toEqual([1, 2]);
});

test("a connection that cannot begin a transaction fails the waiting writes", async () => {
  const { path } = makeTestDatabase();
  const connection = new SqliteDriver(path);
  const failures: string[] = [];
  const commits = new GroupCommit(connection, syncedLog, groupCommitLimits, {
    monotonicMs: () => 0,
    onStorageFailure: (code) => failures.push(code),
  });
  connection.close();
  const writes = await Promise.allSettled([commits.write(() => 1), commits.write(() => 2)]);
  expect(writes).toEqual(Array(2).fill({ status: "rejected", reason: unavailable }));
  expect(failures).toHaveLength(1);
});

test("a read-only connection fails its writes", async () => {
  const { db, path } = makeTestDatabase();
  const items = makeItems(db);
  await items.insert(1);
  const readOnly = new SqliteDriver(path, { readonly: true });
  onTestFinished(() => {
    readOnly.close();
  });
  const failures: string[] = [];
  const commits = new GroupCommit(readOnly, syncedLog, groupCommitLimits, {
    monotonicMs: () => 0,
    onStorageFailure: (code) => failures.push(code),
  });
  const remove = readOnly.prepare("DELETE FROM items");
  const writes = await Promise.allSettled([commits.write(() => 1), commits.write(() => remove.run())]);
  expect(writes).toEqual(Array(2).fill({ status: "rejected", reason: unavailable }));
  expect(failures).toEqual(["SQLITE_READONLY"]);
  expect(items.ids()).toEqual([1]);
});

test("closing commits the waiting writes and refuses later ones", async () => {
  const { db, path } = makeTestDatabase({ limits: { batchMax: 1 } });
  const items = makeItems(db);
  const lock = holdWriteLock(path);
  const waiting = [items.insert(1), items.insert(2)];
  const closing = db.close();
  await expect(items.insert(3)).rejects.toEqual(unavailable);
  lock.release();
  await Promise.all([...waiting, closing]);
  const after = makeTestDatabase({ path });
  expect(makeItems(after.db).ids()).toEqual([1, 2]);
});

test("sums are written once for a commit, without those of a transaction that throws", async () => {
  const { db } = makeTestDatabase();
  db.writer.exec("CREATE TABLE sums (total INTEGER NOT NULL, writes INTEGER NOT NULL); INSERT INTO sums VALUES (0, 0)");
  const add = sqlOfSum("UPDATE sums SET total = total + ?, writes = writes + 1");
  const total = () => db.reader.prepare("SELECT total, writes FROM sums").get();
  const adding = (amount: number) => db.write((tx) => tx.run(add, amount));
  await Promise.all([1, 20, 300].map(adding));
  expect(total()).toEqual({ total: 321, writes: 1 });
  const throwing = db.write(async (tx) => {
    await tx.run(add, 4_000);
    throw new Error("undone");
  });
  const others = [adding(50_000), adding(600_000)];
  await expect(throwing).rejects.toThrow("undone");
  await Promise.all(others);
  expect(total()).toEqual({ total: 650_321, writes: 2 });
  await Promise.all([adding(7), adding(-7)]);
  expect(total()).toEqual({ total: 650_321, writes: 2 });
});

test("sums of a batch that the storage refuses are not written with the next one", async () => {
  const { db } = makeTestDatabase();
  db.writer.exec("CREATE TABLE sums (total INTEGER NOT NULL CHECK (total < 10)); INSERT INTO sums VALUES (0)");
  const add = sqlOfSum("UPDATE sums SET total = total + ?");
  await expect(db.write((tx) => tx.run(add, 10))).rejects.toThrow();
  await db.write((tx) => tx.run(add, 1));
  expect(db.reader.prepare("SELECT total FROM sums").get()).toEqual({ total: 1 });
});
