import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createShortage } from "./memory-shortage.ts";

const mebibyte = 1024 * 1024;

test.each([
  [256, 140, false],
  [256, 150, true],
  [512, 390, false],
  [512, 410, true],
  [128, 60, false],
  [128, 70, true],
])("in %i MiB, a process that uses %i MiB is short of memory: %s", (memory, used, isShort) => {
  const isHashing = () => false;
  const privateBytes = () => used * mebibyte;
  expect(createShortage({ memoryBytes: memory * mebibyte, isHashing, privateBytes })()).toBe(isShort);
});

test("the memory of a password hash is reserved, whether one runs or not", () => {
  const hash = { isRunning: true };
  const privateBytes = () => (140 + (hash.isRunning ? 64 : 0)) * mebibyte;
  const isShort = createShortage({ memoryBytes: 256 * mebibyte, isHashing: () => hash.isRunning, privateBytes });
  expect(isShort()).toBe(false);
  hash.isRunning = false;
  expect(isShort()).toBe(false);
});

// In a process of its own: in one that ran other tests, buffers that are collected meanwhile hide the new one.
test("a process has memory of its own", () => {
  const module = new URL("./memory-shortage.ts", import.meta.url);
  const script = `
    import { readPrivateBytes } from ${JSON.stringify(module)};
    const before = readPrivateBytes();
    globalThis.taken = Buffer.alloc(${String(64 * mebibyte)}, 1);
    console.log(readPrivateBytes() - before);`;
  const grown = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect(Number(grown)).toBeGreaterThan(32 * mebibyte);
});
