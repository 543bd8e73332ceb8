import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../../test/support/folders.ts";
import { collect, noObjects } from "../../../test/support/password-pusher/open-source.ts";
import { type ObjectReader, type SourceFile, SourceFileError } from "./source.ts";
import { openSourceFiles, type SourceFiles } from "./source-files.ts";

const key = "abcdefghijklmnopqrstuvwxyz01";
const content = Buffer.from("what was pushed");

function fileOf(bytes: Buffer, changed: Partial<SourceFile> = {}): SourceFile {
  const checksum = createHash("md5").update(bytes).digest("base64");
  return {
    id: 1,
    filename: "x",
    contentType: null,
    sizeBytes: bytes.length,
    checksum,
    service: "local",
    key,
    ...changed,
  };
}

function filesIn(folder: string): SourceFiles {
  return openSourceFiles({ storageFolder: folder, objects: noObjects });
}

function put(folder: string, bytes: Buffer): string {
  const path = join(folder, "ab/cd", key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

async function read(files: SourceFiles, file: SourceFile): Promise<Buffer> {
  return Buffer.concat(await collect(files.read(file)));
}

describe("a file on the disk", () => {
  it("is read completely, also if it is empty or has no checksum", async () => {
    const folder = makeFolder();
    put(folder, content);
    expect(await read(filesIn(folder), fileOf(content, { checksum: null }))).toEqual(content);

    put(folder, Buffer.alloc(0));
    expect(await read(filesIn(folder), fileOf(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it("is also found in one folder, as downloads of a bucket are", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, key), content);
    expect(await read(filesIn(folder), fileOf(content, { service: "google" }))).toEqual(content);
  });

  it.each([
    ["shorter", content.subarray(1), /^It has 14 of the recorded 15 bytes\.$/],
    ["longer", Buffer.concat([content, content]), /^It has more than the recorded 15 bytes\.$/],
    ["other bytes", Buffer.from("what was pulled"), /Its checksum differs/],
  ])("is refused if it is %s", async (_, bytes, message) => {
    const folder = makeFolder();
    put(folder, bytes);
    await expect(read(filesIn(folder), fileOf(content))).rejects.toThrow(message);
  });

  it("is refused if it is missing, a folder, a symbolic link or a pipe", async () => {
    const folder = makeFolder();
    const files = filesIn(folder);
    await expect(read(files, fileOf(content))).rejects.toThrow(new SourceFileError("It is missing."));

    const path = put(folder, content);
    renameSync(path, join(folder, "target"));
    symlinkSync(join(folder, "target"), path);
    await expect(read(files, fileOf(content))).rejects.toThrow(
      "It cannot be read (too many symbolic links encountered).",
    );

    rmSync(path);
    mkdirSync(path);
    await expect(read(files, fileOf(content))).rejects.toThrow("Its path is not a regular file.");

    rmSync(path, { recursive: true });
    execFileSync("mkfifo", [path]);
    await expect(read(files, fileOf(content))).rejects.toThrow("Its path is not a regular file.");
  });

  it.each(["../../../../etc/passwd", "ab/cd", "..", "", "a\0bcdefghijk", "abcdefgh.txt"])(
    "is never searched with the key %j",
    async (wrong) => {
      const folder = makeFolder();
      await expect(read(filesIn(folder), fileOf(content, { key: wrong }))).rejects.toThrow(
        "Its key in the store is invalid",
      );
    },
  );
});

describe("a file in an object store", () => {
  const onRecord = fileOf(content, { service: "minio" });
  const storeOf = (bytes: Buffer): ObjectReader => ({
    has: (service) => service === "minio",
    async *read(service, wanted, bytesMax) {
      if (service !== "minio" || wanted !== key) throw new SourceFileError("It is missing.");
      yield bytes.subarray(0, bytesMax);
    },
  });

  it("is read from there, and other files from the disk", async () => {
    const folder = makeFolder();
    put(folder, Buffer.from("what is on disk"));
    const files = openSourceFiles({ storageFolder: folder, objects: storeOf(content) });

    expect(await read(files, onRecord)).toEqual(content);
    await expect(read(files, fileOf(content))).rejects.toThrow("Its checksum differs");
  });

  it("is checked like a file on disk", async () => {
    const files = (bytes: Buffer) => openSourceFiles({ storageFolder: undefined, objects: storeOf(bytes) });

    await expect(read(files(Buffer.concat([content, content])), onRecord)).rejects.toThrow(
      "more than the recorded 15 bytes",
    );
    await expect(read(files(content.subarray(1)), onRecord)).rejects.toThrow("It has 14 of the recorded 15 bytes.");
  });

  it("is refused if its service is not named", async () => {
    const files = openSourceFiles({ storageFolder: undefined, objects: storeOf(content) });

    expect([files.canRead("minio"), files.canRead("amazon"), files.canRead("local")]).toEqual([true, false, false]);
    await expect(read(files, fileOf(content, { service: "amazon" }))).rejects.toThrow(
      "It is in the service amazon, whose folder or bucket is not known.",
    );
  });
});
