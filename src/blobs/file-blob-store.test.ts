import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeFolder } from "../../test/support/folders.ts";
import { describeBlobStore } from "./blob-store.contract.ts";
import { BlobMissingError, BlobStoreError } from "./blob-store.ts";
import { createFileBlobStore, markerName } from "./file-blob-store.ts";

const key = "0123456789abcdef0123456789abcdef";
const otherKey = "fedcba9876543210fedcba9876543210";

/** The store of a database that names no file, on a disk that answers. */
const openStore = (folder: string, { isExpected = async () => false, abortAfter = never } = {}) =>
  createFileBlobStore(folder, { isExpected, abortAfter });
const never = (_ms: number) => new AbortController().signal;

async function* content(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function readText(store: ReturnType<typeof createFileBlobStore>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of store.read(key, { start: 0, end: 100 })) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() && entry.name !== markerName ? [entry.name] : [],
  );

describeBlobStore("the file blob store", async () => openStore(join(makeFolder(), "blobs")));

test("the remains of a crash between write and rename cannot be read and are removed by a deletion", async () => {
  const folder = makeFolder();
  const store = openStore(folder);
  mkdirSync(join(folder, "01"));
  writeFileSync(join(folder, "01", `${key}.part`), "half a blob");
  await expect(readText(store)).rejects.toBeInstanceOf(BlobMissingError);
  await store.delete(key);
  expect(filesIn(folder)).toEqual([]);
});

test("a blob that the disk cannot read is a store error, not a bug, and its message contains no path", async () => {
  const folder = makeFolder();
  // Reading a folder fails with EISDIR, also for a privileged user.
  mkdirSync(join(folder, "01", key), { recursive: true });
  const failure = await readText(openStore(folder)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(BlobStoreError);
  expect(failure).toMatchObject({ code: "EISDIR", message: "The disk could not read a file (it is a folder)." });
});

test("a failed write leaves no file behind", async () => {
  const folder = makeFolder();
  const store = openStore(folder);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(200_000);
    throw new Error("broken");
  }
  await expect(store.write(key, broken())).rejects.toThrow("broken");
  expect(filesIn(folder)).toEqual([]);
});

test("a concurrent write of the same key fails and does not affect the first", async () => {
  const folder = makeFolder();
  const store = openStore(folder);
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<Uint8Array> {
    arrived.resolve();
    await gate.promise;
    yield Buffer.from("first");
  }
  const first = store.write(key, slow());
  await arrived.promise;
  await expect(store.write(key, content("second"))).rejects.toMatchObject({ code: "EEXIST" });
  gate.resolve();
  expect(await first).toBe(5);
  expect(await readText(store)).toBe("first");
});

/** @param before called with each file or folder that is to be made durable. */
async function watchSyncs(before: (stats: Stats) => void): Promise<void> {
  const handle = await open(import.meta.filename, "r");
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = prototype;
  const spy = vi.spyOn(prototype, "sync").mockImplementation(async function (this: FileHandle) {
    before(await this.stat());
    await sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
}

/** From now on the disk reports that it cannot make files, or the entries of folders, durable. */
const failSyncs = (of: "file" | "folder") =>
  watchSyncs((stats) => {
    if (stats.isDirectory() === (of === "folder")) {
      throw Object.assign(new Error("The disk has failed."), { code: "EIO" });
    }
  });

test("the folders of the first blob, their entries and the marker are durable with it", async () => {
  const parent = makeFolder();
  const folder = join(parent, "files", "blobs");
  const synced = new Set<number>();
  await watchSyncs(({ ino }) => void synced.add(ino));
  await openStore(folder).write(key, content("a"));
  const paths = [
    parent,
    dirname(folder),
    folder,
    join(folder, markerName),
    join(folder, "01"),
    join(folder, "01", key),
  ];
  expect(paths.filter((path) => !synced.has(statSync(path).ino))).toEqual([]);
});

test.each(["file", "folder"] as const)("a blob is not acknowledged before its %s is durable", async (of) => {
  const folder = join(makeFolder(), "blobs");
  const store = openStore(folder);
  // So that both folders are there.
  await store.write(key, content("x"));
  await store.delete(key);
  await failSyncs(of);
  await expect(store.write(key, content("secret"))).rejects.toMatchObject({ code: "EIO" });
  expect(filesIn(folder)).toEqual([]);
  const writer = await store.growing.append(key, 0, 6);
  await writer.write(Buffer.from("secret"));
  await expect(writer.sync()).rejects.toMatchObject({ code: "EIO" });
  await writer.close();
  if (of === "folder") {
    for (const end of [store.growing.finish, store.delete])
      await expect(end(key)).rejects.toMatchObject({ code: "EIO" });
  }
});

test("only the server's own user can read the blobs", async () => {
  const folder = join(makeFolder(), "blobs");
  await openStore(folder).write(key, content("a"));
  expect(statSync(join(folder, "01", key)).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "01")).mode & 0o777).toBe(0o700);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("the error for an unusable folder is thrown unchanged", async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "01"), "a file where the folder should be");
  await expect(openStore(folder).write(key, content("a"))).rejects.toMatchObject({ code: "EEXIST" });
});

const expected = { isExpected: async () => true };
const notMounted = { name: "BlobStoreError", code: "NOT_MOUNTED" };

test.each(["missing", "empty"])("a folder that should have files and is %s is not mounted", async (state) => {
  const folder = join(makeFolder(), "blobs");
  if (state === "empty") mkdirSync(folder);
  const store = openStore(folder, expected);
  await expect(readText(store)).rejects.toMatchObject(notMounted);
  await expect(store.write(key, content("a"))).rejects.toMatchObject(notMounted);
  await expect(store.delete(key)).rejects.toMatchObject(notMounted);
  expect(existsSync(folder) ? filesIn(folder) : []).toEqual([]);
});

test("the first two blobs of a new folder can be written at the same time", async () => {
  const folder = join(makeFolder(), "blobs");
  const isExpected = async () => {
    // Before the answer, the other blob is complete and the database names it.
    await openStore(folder).write(otherKey, content("first"));
    return true;
  };
  await openStore(folder, { isExpected }).write(key, content("second"));
  expect(filesIn(folder).toSorted()).toEqual([key, otherKey]);
});

test("a folder keeps its marker when its last blob is deleted", async () => {
  const folder = join(makeFolder(), "blobs");
  await openStore(folder).write(key, content("a"));
  await openStore(folder, expected).delete(key);
  const store = openStore(folder, expected);
  await expect(readText(store)).rejects.toBeInstanceOf(BlobMissingError);
  expect(await store.write(key, content("b"))).toBe(1);
});

test("a read, a write and a deletion on a disk that hangs end, and blobs that can be read are read", async () => {
  const folder = makeFolder();
  const other = "00000000000000000000000000000000";
  await openStore(folder).write(other, content("other"));
  const limit = new AbortController();
  const store = openStore(folder, { abortAfter: () => limit.signal });
  // Opening a pipe hangs until somebody opens its other end.
  const pipe = join(folder, "01", key);
  mkdirSync(dirname(pipe), { recursive: true });
  execFileSync("mkfifo", [pipe]);
  onTestFinished(() => {
    closeSync(openSync(pipe, constants.O_RDWR));
  });
  const abort = new AbortController();
  const hanging = store.read(key, { start: 0, end: 0 }, abort.signal)[Symbol.asyncIterator]().next();
  const hangingToo = readText(store);
  const parts: Uint8Array[] = [];
  for await (const chunk of store.read(other, { start: 0, end: 100 })) parts.push(chunk);
  expect(Buffer.concat(parts).toString()).toBe("other");
  const timedOut = { name: "BlobStoreError", code: "ETIMEDOUT" };
  abort.abort();
  await expect(hanging).rejects.toMatchObject(timedOut);
  limit.abort();
  await expect(hangingToo).rejects.toMatchObject(timedOut);
  await expect(store.write(other, content("a"))).rejects.toMatchObject(timedOut);
  await expect(store.delete(other)).rejects.toMatchObject(timedOut);
});

test("an unfinished blob is not begun twice, and is deleted with its key", async () => {
  const folder = makeFolder();
  const store = openStore(folder);
  const begin = async () => await (await store.growing.append(key, 0, 8)).close();
  await begin();
  await expect(begin()).rejects.toThrow(/file already exists/);
  await store.delete(key);
  expect(filesIn(folder)).toEqual([]);
});
