import { execFile } from "node:child_process";
import fs, {
  chmodSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Random } from "../base/random.ts";
import { readOrMakeMasterKeyFile } from "./master-key-file.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sealpush-key-"));
  path = join(folder, "master.key");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function counting(): Random {
  let next = 0;
  return { bytes: (count) => Buffer.from(Array.from({ length: count }, () => next++ % 256)) };
}

const unused: Random = {
  bytes: () => {
    throw new Error("No random bytes are needed here.");
  },
};

describe("the master key file", () => {
  it("is created once, for its owner only, and read afterwards", () => {
    const first = readOrMakeMasterKeyFile(folder, counting());
    expect(first).toEqual({ key: expect.any(Buffer), made: true, warnings: [] });
    expect(first.key).toHaveLength(32);
    expect(readFileSync(path, "utf8")).toBe(`${first.key.toString("hex")}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readOrMakeMasterKeyFile(folder, unused)).toEqual({ ...first, made: false });
    expect(readdirSync(folder)).toEqual(["master.key"]);
  });

  it("is durable before its key is used, and so is its entry in the folder", () => {
    const synced: number[] = [];
    const { fsyncSync } = fs;
    const spy = vi.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
      synced.push(fstatSync(descriptor).ino);
      fsyncSync(descriptor);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    readOrMakeMasterKeyFile(folder, counting());
    expect(synced).toEqual([path, folder].map((each) => statSync(each).ino));
  });

  it("is created with its folder, which only the owner can open", () => {
    const deeper = join(folder, "a", "b");
    expect(readOrMakeMasterKeyFile(deeper, counting()).made).toBe(true);
    expect(statSync(deeper).mode & 0o777).toBe(0o700);
  });

  it("never replaces a file that another process has just created", () => {
    const other = "c3".repeat(32);
    const { bytes } = counting();
    const overtaken: Random = {
      bytes(count) {
        writeFileSync(path, other, { mode: 0o600 });
        return bytes(count);
      },
    };
    expect(readOrMakeMasterKeyFile(folder, overtaken)).toEqual({
      key: Buffer.from(other, "hex"),
      made: false,
      warnings: [],
    });
    expect(readdirSync(folder)).toEqual(["master.key"]);
  });

  it("is the same for processes that start at the same time", async () => {
    const script = `
      const { readOrMakeMasterKeyFile } = await import(process.argv[1]);
      const { systemRandom } = await import(process.argv[2]);
      const { key, made } = readOrMakeMasterKeyFile(process.argv[3], systemRandom);
      console.log(JSON.stringify({ key: key.toString("hex"), made }));`;
    const modules = ["./master-key-file.ts", "../base/random.ts"].map((name) => new URL(name, import.meta.url).href);
    const parameters = ["--input-type=module", "--eval", script, ...modules, folder];
    const runs = Array.from({ length: 6 }, () => promisify(execFile)(process.execPath, parameters));
    const results = (await Promise.all(runs)).map(({ stdout }) => JSON.parse(stdout));
    expect(new Set(results.map(({ key }) => key)).size).toBe(1);
    expect(results.filter(({ made }) => made)).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(["master.key"]);
  });

  it("warns if other users can read it", () => {
    writeFileSync(path, "a1".repeat(32));
    chmodSync(path, 0o640);
    expect(readOrMakeMasterKeyFile(folder, unused).warnings).toEqual([expect.stringContaining("chmod 600")]);
  });

  it("is refused, not replaced, if it contains anything but a key; its content is not repeated", () => {
    for (const content of [
      "",
      "a1a1",
      "a1".repeat(33),
      "zz".repeat(32),
      `${"a1".repeat(32)} ${"b2".repeat(32)}`,
      "\0".repeat(64),
    ]) {
      writeFileSync(path, content, { mode: 0o600 });
      const attempt = () => readOrMakeMasterKeyFile(folder, unused);
      expect(attempt).toThrow(/does not hold a master key/);
      expect(attempt).not.toThrow(/a1a1/);
      expect(readFileSync(path, "utf8")).toBe(content);
    }
  });

  it("reports in one sentence why it cannot be read or created", () => {
    mkdirSync(path);
    expect(() => readOrMakeMasterKeyFile(folder, unused)).toThrow(/master\.key cannot be read \(it is a folder\)\.$/);

    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(() => readOrMakeMasterKeyFile(file, unused)).toThrow(/cannot be read \(not a folder\)\.$/);

    const nowhere = join(folder, "nowhere");
    symlinkSync(join(folder, "missing", "deeper"), nowhere);
    expect(() => readOrMakeMasterKeyFile(nowhere, counting())).toThrow(
      /cannot be created \(no such file or folder\): .*PWPUSH_MASTER_KEY\.$/,
    );
  });

  it("is not created behind a broken link", () => {
    symlinkSync(join(folder, "missing"), path);
    expect(() => readOrMakeMasterKeyFile(folder, counting())).toThrow(/broken link/);
    expect(readdirSync(folder)).toEqual(["master.key"]);
  });
});
