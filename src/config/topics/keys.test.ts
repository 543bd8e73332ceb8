import { describe, expect, it } from "vitest";
import { filesWith, loadValid, mistakesOf, noFile } from "../../../test/support/settings.ts";
import { loadConfig } from "../load-config.ts";

const keyA = "a1".repeat(32);
const keyB = "b2".repeat(32);
const keyC = "c3".repeat(32);

describe("master keys", () => {
  it("come from variables or files, the active one first", () => {
    const files: Readonly<Record<string, string>> = { "/run/active": `${keyA}\n`, "/run/old": `${keyB}\n${keyC},\n` };
    const readFile = (path: string) => files[path] ?? noFile(path);
    const keys = [keyA, keyB, keyC].map((key) => Buffer.from(key, "hex"));
    const inline = loadValid({ PWPUSH_MASTER_KEY: keyA.toUpperCase(), PWPUSH_MASTER_KEY_PREVIOUS: `${keyB}, ${keyC}` });
    const filed = loadValid(
      { PWPUSH_MASTER_KEY_FILE: "/run/active", PWPUSH_MASTER_KEY_PREVIOUS_FILE: "/run/old" },
      readFile,
    );
    expect(inline.config.masterKeys).toEqual(keys);
    expect(filed.config.masterKeys).toEqual(keys);
  });

  it("are refused if both the variable and the file are set", () => {
    const readFile = filesWith(keyA);
    expect(mistakesOf({ PWPUSH_MASTER_KEY: keyA, PWPUSH_MASTER_KEY_FILE: "/run/k" }, readFile)).toEqual([
      "PWPUSH_MASTER_KEY and PWPUSH_MASTER_KEY_FILE are both given: give one of them.",
    ]);
  });

  it("are not silently replaced if their file is missing or empty", () => {
    expect(mistakesOf({ PWPUSH_MASTER_KEY_FILE: "/run/k" })).toEqual([
      'PWPUSH_MASTER_KEY_FILE names "/run/k", which cannot be read (no such file or folder).',
    ]);
    expect(mistakesOf({ PWPUSH_MASTER_KEY_FILE: "/run/k" }, filesWith(" \n"))).toEqual([
      'PWPUSH_MASTER_KEY_FILE names "/run/k", which is empty.',
    ]);
    expect(mistakesOf({ PWPUSH_MASTER_KEY_FILE: "/run/k" }, filesWith("x".repeat(100_000)))).toHaveLength(1);
  });

  it("are both reported if both are wrong, and never repeated", () => {
    const mistakes = mistakesOf({ PWPUSH_MASTER_KEY: `${keyA}ff`, PWPUSH_MASTER_KEY_PREVIOUS: `${keyB},zz${keyC}` });
    expect(mistakes).toHaveLength(2);
    expect(mistakes[0]).toMatch(/^PWPUSH_MASTER_KEY: /);
    expect(mistakes[1]).toMatch(/^PWPUSH_MASTER_KEY_PREVIOUS: /);
    expect(mistakes.join()).not.toMatch(/a1a1|b2b2|c3c3/);
  });

  it("are each given once, and the active one is required", () => {
    expect(mistakesOf({ PWPUSH_MASTER_KEY: keyA, PWPUSH_MASTER_KEY_PREVIOUS: keyA })).toHaveLength(1);
    expect(mistakesOf({ PWPUSH_MASTER_KEY_PREVIOUS: keyB })).toHaveLength(1);
    const published = "749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f";
    expect(mistakesOf({ PWPUSH_MASTER_KEY: published }).join()).not.toContain(published);
    expect(
      loadValid({ PWPUSH_MASTER_KEY: keyA, PWPUSH_MASTER_KEY_PREVIOUS: published }).config.masterKeys,
    ).toHaveLength(2);
  });

  it("rethrow an error that is not an error of the operating system", () => {
    const broken = () => {
      throw new TypeError("a bug");
    };
    expect(() => loadConfig({ PWPUSH_MASTER_KEY_FILE: "/run/k" }, broken)).toThrow(TypeError);
  });
});
