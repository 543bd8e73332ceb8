import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../test/support/folders.ts";
import { BackupError } from "./durable-files.ts";
import { readTar, tarEnd, tarHeader, tarPadding } from "./tar.ts";

const modifiedAt = Date.UTC(2026, 0, 15, 12);

const contents = new Map<string, Buffer>([
  ["empty", Buffer.alloc(0)],
  ["one", Buffer.from("x")],
  ["block", randomBytes(512)],
  ["blobs/ab/abcdef0123456789abcdef0123456789", randomBytes(200_000)],
]);

function archive(files: ReadonlyMap<string, Buffer> = contents): Buffer {
  const parts = [...files].flatMap(([path, content]) => [
    tarHeader(path, content.length, modifiedAt),
    content,
    tarPadding(content.length),
  ]);
  return Buffer.concat([...parts, tarEnd]);
}

/** In chunks that are not aligned with the blocks of the archive. */
async function* inChunks(bytes: Buffer, chunkBytes = 333): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

async function unpacked(bytes: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const { path, content } of readTar(inChunks(bytes))) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    files.set(path, Buffer.concat(chunks));
  }
  return files;
}

/** The block with a corrected checksum. */
function resummed(block: Buffer): Buffer {
  block.fill(0x20, 148, 156);
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

test("the system's tar unpacks the archive, with files that only the owner can read", () => {
  const folder = makeFolder();
  execFileSync("tar", ["-xf", "-", "-C", folder], { input: archive() });
  for (const [path, content] of contents) {
    expect(readFileSync(join(folder, path)).equals(content)).toBe(true);
    expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, path)).mtimeMs).toBe(modifiedAt);
  }
});

test.each(["ustar", "gnu", "pax"])("an archive that the system's tar repacked as %s is read", async (format) => {
  const folder = makeFolder();
  for (const [path, content] of contents) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const packed = execFileSync("tar", ["-cf", "-", `--format=${format}`, "-C", folder, "."], { maxBuffer: 2 ** 24 });
  expect([...(await unpacked(packed))].sort()).toEqual([...contents].sort());
});

test("an archive is read back, even if the reader skips contents", async () => {
  expect([...(await unpacked(archive()))]).toEqual([...contents]);
  const paths: string[] = [];
  for await (const { path } of readTar(inChunks(archive()))) paths.push(path);
  expect(paths).toEqual([...contents.keys()]);
});

test("the length of a file of more than eight gigabytes can be read by the system's tar", async () => {
  const bytes = 9 * 1024 ** 3;
  const head = tarHeader("large", bytes, modifiedAt);
  expect(head.length % 512).toBe(0);
  // The system's tar lists the file before it notices that the content is missing.
  const folder = makeFolder();
  writeFileSync(join(folder, "head.tar"), head);
  const listed = execFileSync("sh", ["-c", 'tar -tvf "$1" 2>/dev/null || true', "sh", join(folder, "head.tar")]);
  expect(listed.toString()).toContain(String(bytes));
  const reading = readTar(inChunks(head));
  const first = await reading.next();
  expect(first.value).toMatchObject({ path: "large", bytes });
  await expect(reading.next()).rejects.toThrow("ends too early");
});

describe("an invalid archive", () => {
  const refused = (bytes: Buffer) => expect(unpacked(bytes)).rejects.toThrow(BackupError);

  test("is refused wherever it is truncated", async () => {
    const whole = archive();
    const cuts = [0, 1, 511, 512, 1_024, 1_500, whole.length - 1_100, whole.length - 1_024];
    for (const cut of cuts) await refused(whole.subarray(0, cut));
  });

  test("is refused when a header is changed", async () => {
    const changed = archive();
    changed[0] = (changed[0] ?? 0) ^ 1;
    await refused(changed);
  });

  test("is refused if it is not a tar file, or is compressed", async () => {
    await refused(Buffer.from("hello".repeat(200)));
    await refused(execFileSync("gzip", ["-c"], { input: archive() }));
  });

  test.each(["1", "2", "3", "4", "6", "S", "L"])("is refused with an entry of type %s", async (type) => {
    const block = tarHeader("link", 0, modifiedAt);
    block.write(type, 156);
    await refused(Buffer.concat([resummed(block), tarEnd]));
  });

  test("is refused with an impossible length", async () => {
    const octal = tarHeader("file", 0, modifiedAt);
    octal.write("9".repeat(11), 124);
    await refused(Buffer.concat([resummed(octal), tarEnd]));
    const binary = tarHeader("file", 0, modifiedAt);
    binary.fill(0xff, 124, 136);
    await refused(Buffer.concat([resummed(binary), tarEnd]));
  });

  test("is refused if an extended header is too long", async () => {
    const block = tarHeader("pax", 1_000_000, modifiedAt);
    block.write("x", 156);
    await refused(Buffer.concat([resummed(block), Buffer.alloc(1_000_448), tarEnd]));
  });
});
