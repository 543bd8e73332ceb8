import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type ZipEntry, zip, zipBytes, zipNames } from "./zip.ts";

const modifiedMs = Date.UTC(2026, 10, 23, 9, 4, 6);

function entry(name: string, ...chunks: readonly Uint8Array[]): ZipEntry {
  const sizeBytes = chunks.reduce((bytes, chunk) => bytes + chunk.length, 0);
  return {
    name,
    sizeBytes,
    async *read() {
      yield* chunks;
    },
  };
}

/** Yields the same zeros again and again. */
function zeros(name: string, sizeBytes: number): ZipEntry {
  const piece = Buffer.alloc(8 * 1024 * 1024);
  return {
    name,
    sizeBytes,
    async *read() {
      for (let left = sizeBytes; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(left, piece.length));
    },
  };
}

/** @param headBytes the bytes that are kept of the beginning and of the end. */
async function written(entries: readonly ZipEntry[]) {
  const chunks: Uint8Array[] = [];
  for await (const chunk of zip(entries, modifiedMs, crc32)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Reads an archive as programs do that extract it: from its end. */
function unpack(archive: Buffer) {
  const end = archive.length - 22;
  expect(archive.readUInt32LE(end)).toBe(0x0605_4b50);
  const files: { name: string; content: string }[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < archive.readUInt16LE(end + 10); index += 1) {
    expect(archive.readUInt32LE(at)).toBe(0x0201_4b50);
    const [bytes, nameBytes, offset] = [
      archive.readUInt32LE(at + 24),
      archive.readUInt16LE(at + 28),
      archive.readUInt32LE(at + 42),
    ];
    const name = archive.toString("utf8", at + 46, at + 46 + nameBytes);
    expect(archive.readUInt32LE(offset)).toBe(0x0403_4b50);
    const content = archive.subarray(offset + 30 + nameBytes, offset + 30 + nameBytes + bytes);
    expect(archive.readUInt32LE(at + 16)).toBe(crc32(content));
    files.push({ name, content: content.toString() });
    at += 46 + nameBytes;
  }
  expect(at).toBe(end);
  return files;
}

describe("an archive", () => {
  test("contains its files in order, also empty ones and names in any script", async () => {
    const entries = [
      entry("a.txt", Buffer.from("first "), Buffer.from("second")),
      entry("empty"),
      entry("ключ 🔑.txt", Buffer.from("x")),
    ];
    const archive = await written(entries);
    expect(unpack(archive)).toEqual([
      { name: "a.txt", content: "first second" },
      { name: "empty", content: "" },
      { name: "ключ 🔑.txt", content: "x" },
    ]);
    expect(zipBytes(entries)).toBe(archive.length);
  });

  test.each([
    ["a large file", [zeros("large", 0xffff_ffff), entry("small", Buffer.from("x"))]],
    ["files that are large together", [zeros("a", 0x8000_0000), zeros("b", 0x8000_0000), entry("c", Buffer.from("x"))]],
  ])("has 64-bit sizes and offsets for %s", { timeout: 120_000 }, async (_what, entries) => {
    let bytes = 0;
    let end = Buffer.alloc(0);
    for await (const chunk of zip(entries, modifiedMs, crc32)) {
      bytes += chunk.length;
      end = Buffer.concat([end, chunk.subarray(-1_000)]).subarray(-1_000);
    }
    expect(zipBytes(entries)).toBe(bytes);
    expect(end.readUInt32LE(end.length - 22 - 20)).toBe(0x0706_4b50);
    const endAt = Number(end.readBigUInt64LE(end.length - 22 - 20 + 8));
    const directoryAt = Number(end.readBigUInt64LE(end.length - 22 - 76 + 48));
    expect(endAt).toBe(bytes - 22 - 76);
    expect(end.readUInt32LE(end.length - (bytes - directoryAt))).toBe(0x0201_4b50);
  });

  test("fails if a file is shorter than was said", async () => {
    await expect(written([{ ...entry("a", Buffer.from("ab")), sizeBytes: 3 }])).rejects.toThrow("2 bytes instead of 3");
  });

  test("ends the file that is being read when nobody wants the rest", async () => {
    let isClosed = false;
    async function* read() {
      try {
        for (;;) yield Buffer.alloc(10);
      } finally {
        isClosed = true;
      }
    }
    const archive = zip([{ name: "a", sizeBytes: 1_000, read }], modifiedMs, crc32);
    await archive.next();
    await archive.return();
    expect(isClosed).toBe(true);
  });
});

test("names are safe on every system, and different", () => {
  const names = [
    "a.txt",
    "A.TXT",
    "a.txt",
    "../etc/passwd",
    "con.txt",
    "name. ",
    "",
    "x:y*?.md",
    "b.tar.gz",
    "b.tar.gz",
    "..",
  ];
  expect(zipNames(names)).toEqual([
    "a.txt",
    "A (2).TXT",
    "a (3).txt",
    ".._etc_passwd",
    "_con.txt",
    "name_",
    "_",
    "x_y__.md",
    "b.tar.gz",
    "b (2).tar.gz",
    "_ (2)",
  ]);
});

test("names that are too long for a file system keep their ending", () => {
  const name = `${"報".repeat(100)}.tar.gz`;
  expect(zipNames([name, name])).toEqual([`${"報".repeat(77)}.tar.gz`, `${"報".repeat(77)} (2).tar.gz`]);
});

test("names that differ only in their composition, which macOS ignores, get a number", () => {
  const [composed, decomposed] = ["é.txt".normalize("NFC"), "é.txt".normalize("NFD")];
  expect(zipNames([composed, decomposed])).toEqual([composed, decomposed.replace(".", " (2).")]);
});
