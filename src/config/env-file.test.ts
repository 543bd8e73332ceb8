import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseEnvFile } from "./env-file.ts";

describe("an env file", () => {
  it.each([
    ["a bare value", "NAME=value", "value"],
    ["export and blanks around it", "  export NAME = value  ", "value"],
    ["double quotes", 'NAME="a b"', "a b"],
    ["single quotes", "NAME='a b'", "a b"],
    ["a comment behind a bare value", "NAME=value # why", "value"],
    ["a comment behind a quoted value", "NAME='a # b' # why", "a # b"],
    ["a number sign within a value", "NAME=a#b", "a#b"],
    ["an equals sign in the value", "NAME=a=b==", "a=b=="],
    ["no value", "NAME=", ""],
    ["a comment instead of a value", "NAME= # none", ""],
    ["line ends of Windows", "OTHER=x\r\nNAME=value\r\n", "value"],
    ["a byte order mark", "\u{feff}NAME=value", "value"],
    ["the last of two lines", "NAME=one\nNAME=two", "two"],
    ["a line that is commented out after it", "NAME=one\n#NAME=two", "one"],
    ["quotes that do not enclose the whole value", 'NAME="A B" <a@example.com>', '"A B" <a@example.com>'],
    ["quotes within quotes", `NAME='"A B" <a@example.com>'`, '"A B" <a@example.com>'],
    ["escaped quotes", String.raw`NAME="a \"b\" \\ \$c"`, String.raw`a "b" \ $c`],
    ["a pattern in double quotes", String.raw`NAME="\A[^@\s]+@hey\.com\z"`, String.raw`\A[^@\s]+@hey\.com\z`],
    ["a pattern in single quotes", String.raw`NAME='\A[^@\s]+@hey\.com\z'`, String.raw`\A[^@\s]+@hey\.com\z`],
    ["several lines in quotes", `NAME='{\n  "a": 1\n}'\nOTHER=x`, `{\n  "a": 1\n}`],
    ["a quote that is never closed", "NAME='abc\nOTHER=x", "'abc"],
    ["what looks like a command", "NAME=$(id) `id` $HOME", "$(id) `id` $HOME"],
  ])("accepts %s", (_, text, value) => {
    expect(parseEnvFile(text).NAME).toBe(value);
  });

  it("has exactly the names in the file, even `__proto__`", () => {
    expect(Object.entries(parseEnvFile("__proto__=a\nconstructor=b\nnot a line\n=c\n1A=d\n"))).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });

  it("is parsed in linear time even with an unclosed quote", () => {
    const text = `NAME="${'\\a"x'.repeat(20_000)}`;
    expect(parseEnvFile(`${text}\nOTHER='${"b'c".repeat(20_000)}\nLAST=x`).LAST).toBe("x");
  });
});

describe("the env file of the fixture", () => {
  it("is read completely", () => {
    const path = join(import.meta.dirname, "../../test/fixtures/password-pusher/env");
    expect(Object.keys(parseEnvFile(readFileSync(path, "utf8")))).toEqual([
      "PWPUSH_MASTER_KEY",
      "PWPUSH_MASTER_KEY_PREVIOUS",
      "SECRET_KEY_BASE",
      "PWP__FILES__STORAGE",
    ]);
  });
});
