import { expect, test } from "vitest";
import { systemRandom } from "../../base/random.ts";
import {
  backupCodesMade,
  importedCodeDigest,
  keptCodeKey,
  makeBackupCodes,
  openImportedCodeKey,
  readBackupCode,
  readImportedCode,
  writeImportedCodeKey,
} from "./backup-codes.ts";

test("ten different codes of 80 bits, in readable groups", () => {
  const codes = makeBackupCodes(systemRandom);
  expect(backupCodesMade).toBe(10);
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/);
});

test("a code is recognised in any notation", () => {
  const bare = "01ab2cd3ef4gh5jk";
  for (const typed of [
    "01ab-2cd3-ef4g-h5jk",
    "01AB 2CD3 EF4G H5JK",
    " o1ab–2cd3–ef4g–h5jk ",
    "olab2cd3ef4gh5jk",
    "0iab2cd3ef4gh5jk",
  ]) {
    expect(readBackupCode(typed)).toBe(bare);
  }
  for (const typed of ["", "01ab-2cd3-ef4g", `${bare}0`, "u1ab2cd3ef4gh5jk"])
    expect(readBackupCode(typed)).toBeUndefined();
});

const known = "773081bdf95dd74e6c46c01cdb3846fc0643dbeff3108a7c4ee2d9963539544d";

test("an imported code has the digest that the other installation stored, without keeping its key", () => {
  const secretKeyBase = "0123abcd".repeat(16);
  const key = keptCodeKey(secretKeyBase);
  expect(key).toHaveLength(32);
  const kept = writeImportedCodeKey({ key, messagePrefix: "42:" });
  expect(kept.toString("latin1")).not.toContain(secretKeyBase);
  const code = readImportedCode("A1B2C3D4E5 ");
  expect(importedCodeDigest(openImportedCodeKey(kept), code ?? "").toString("hex")).toBe(known);
});

test("a short key is kept unchanged", () => {
  expect(keptCodeKey("short")).toEqual(Buffer.from("short"));
  expect(keptCodeKey("x".repeat(64))).toHaveLength(64);
  expect(keptCodeKey("x".repeat(65))).toHaveLength(32);
});

test.each(["a1b2c3d4e", "a1b2c3d4e5f", "g1b2c3d4e5", "", "123456"])(
  "%j is not a code of another installation",
  (typed) => {
    expect(readImportedCode(typed)).toBeUndefined();
  },
);
