import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemRandom } from "../base/random.ts";
import { createBootCodeFile } from "./boot-code-file.ts";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-boot-code-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it("exists from creation to removal, is readable by its owner only, and leaves no other file", () => {
  const folder = makeFolder();
  const file = createBootCodeFile(folder, systemRandom);
  expect(file.read()).toBeUndefined();
  file.make("first");
  expect(file.read()).toBe("first");
  expect(statSync(join(folder, "boot-code")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["boot-code"]);
  file.remove();
  file.remove();
  expect(file.read()).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

it("keeps the code of the process that wrote it first", () => {
  const folder = makeFolder();
  createBootCodeFile(folder, systemRandom).make("first");
  const second = createBootCodeFile(folder, systemRandom);
  second.make("second");
  expect(second.read()).toBe("first");
});

it("reads no more bytes than a code has", () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "boot-code"), "x".repeat(100_000));
  expect(createBootCodeFile(folder, systemRandom).read()?.length).toBeLessThanOrEqual(256);
});

it("reports a failure in one sentence without the code", () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "boot-code"));
  const file = createBootCodeFile(folder, systemRandom);
  expect(() => file.read()).toThrow(/boot-code cannot be read \(EISDIR\)\.$/);
  const missing = createBootCodeFile(join(folder, "missing"), systemRandom);
  expect(() => missing.make("canary")).toThrow(/boot-code cannot be created \(ENOENT\)\.$/);
});
