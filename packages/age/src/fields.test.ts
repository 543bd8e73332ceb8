import { describe, expect, test } from "vitest";
import { becomesLink, fieldsText, findFieldProblems, type PushField } from "./fields.ts";
import { oneTimeCode } from "./one-time-code.ts";
import { readOneTimeSeed } from "./one-time-seed.ts";

const field = (label: string, value = "v", type: PushField["type"] = "text"): PushField => ({ label, value, type });
const seed = "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example";
const problemsOf = (...fields: PushField[]) => findFieldProblems(fields).map(({ problem }) => problem);

describe("fields", () => {
  test.each<[string, PushField[]]>([
    ["one", [field("User")]],
    ["thirty", Array.from({ length: 30 }, (_, at) => field(`${at}`))],
    ["of every type", [field("a"), field("b", "s", "secret"), field("c", seed, "otp")]],
    ["with the longest label and value", [field("\u{1f511}".repeat(64), "\u{1f511}".repeat(65_536))]],
    ["in Arabic, with a joiner", [field("كلمة المرور"), field("می‌خواهم")]],
  ])("%s are valid", (_, fields) => {
    expect(findFieldProblems(fields)).toEqual([]);
  });

  test.each<[string, PushField[], string]>([
    ["none", [], "count"],
    ["too many", Array.from({ length: 31 }, (_, at) => field(`${at}`)), "count"],
    ["an empty label", [field("")], "label_missing"],
    ["a label of blanks", [field(" \u3000")], "label_missing"],
    ["a long label", [field("x".repeat(65))], "label_long"],
    ["a label with a line end", [field("a\nb")], "label_characters"],
    ["a label with a line separator", [field("a\u2028b")], "label_characters"],
    ["a label that changes the direction", [field("a\u202eb")], "label_characters"],
    ["half a character in a label", [field("\ud83d")], "label_characters"],
    ["a label twice", [field("User"), field("uSER")], "label_twice"],
    ["an empty value", [field("a", "")], "value_missing"],
    ["a long value", [field("a", "x".repeat(65_537))], "value_long"],
    ["half a character in a value", [field("a", "x\ude00")], "value_characters"],
    ["a seed that is none", [field("a", "123456", "otp")], "otp"],
    [
      "more text than a push has",
      Array.from({ length: 17 }, (_, at) => field(`${at}`, "x".repeat(65_000))),
      "text_long",
    ],
  ])("%s: refused", (_, fields, problem) => {
    expect(problemsOf(...fields)).toEqual([problem]);
  });

  test("each problem names its field", () => {
    expect(findFieldProblems([field("a"), field("A", "")])).toEqual([
      { at: 1, problem: "label_twice" },
      { at: 1, problem: "value_missing" },
    ]);
  });

  test("are a text of lines", () => {
    expect(fieldsText([field("User", "ada"), field("Key", "line 1\nline 2"), field("Note", "x")])).toBe(
      "User: ada\nKey:\nline 1\nline 2\nNote: x",
    );
  });

  test("only absolute http and https addresses become links", () => {
    for (const address of ["https://example.com/", "HTTP://example.com?a#b"]) expect(becomesLink(address)).toBe(true);
    for (const other of [
      "javascript:alert(1)",
      "//example.com",
      "https:example.com",
      "https://",
      "https://a b",
      " https://a",
    ])
      expect(becomesLink(other)).toBe(false);
  });
});

describe("one-time codes", () => {
  // The secrets and codes of RFC 6238, appendix B.
  const base32 = {
    SHA1: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    SHA256: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA",
    SHA512: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA",
  };
  test.each([
    ["SHA1", 59, "94287082"],
    ["SHA256", 59, "46119246"],
    ["SHA512", 59, "90693936"],
    ["SHA1", 1_111_111_109, "07081804"],
    ["SHA256", 20_000_000_000, "77737706"],
    ["SHA512", 20_000_000_000, "47863826"],
  ] as const)("%s at %d is %s", (algorithm, seconds, code) => {
    const address = `otpauth://totp/x?secret=${base32[algorithm]}&algorithm=${algorithm}&digits=8`;
    expect(oneTimeCode(address, seconds * 1_000)).toEqual({ code, secondsLeft: 30 - (seconds % 30), period: 30 });
  });

  test("the defaults are SHA1, 6 digits and 30 seconds", () => {
    expect(oneTimeCode(`otpauth://totp/x?secret=${base32.SHA1}`, 59_999)).toEqual({
      code: "287082",
      secondsLeft: 1,
      period: 30,
    });
  });

  test.each(["gezdgnbv", "GEZDGNBV", "GEZDGNBVGY======", "ME", "MFRGG", "MFRGGZA", "AA"])(
    "%s is a secret",
    (secret) => {
      expect(readOneTimeSeed(`otpauth://totp/x?secret=${encodeURIComponent(secret)}`)).toBeDefined();
    },
  );

  test.each([
    "",
    "JBSWY3DPEHPK3PXP",
    "otpauth://hotp/x?secret=GEZDGNBV",
    "https://totp/x?secret=GEZDGNBV",
    "otpauth://totp/x",
    "otpauth://totp/x?secret=",
    "otpauth://totp/x?secret=GEZDGNB1",
    "otpauth://totp/x?secret=G",
    "otpauth://totp/x?secret=GEZ",
    "otpauth://totp/x?secret=====",
    "otpauth://totp/x?secret=GEZDGNBV&secret=GEZDGNBV",
    "otpauth://totp/x?secret=GEZDGNBV&algorithm=MD5",
    "otpauth://totp/x?secret=GEZDGNBV&digits=7",
    "otpauth://totp/x?secret=GEZDGNBV&period=14",
    "otpauth://totp/x?secret=GEZDGNBV&period=121",
    "otpauth://totp/x?secret=GEZDGNBV&period=3e1",
    `otpauth://totp/x?secret=${"A".repeat(2_048)}`,
  ])("%j is no seed", (address) => {
    expect(readOneTimeSeed(address)).toBeUndefined();
    expect(oneTimeCode(address, 0)).toBeUndefined();
  });
});
