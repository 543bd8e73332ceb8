import { expect, test } from "vitest";
import {
  importedCodeDigest,
  keptCodeKey,
  openImportedCodeKey,
  readImportedCode,
  writeImportedCodeKey,
} from "./imported-codes.ts";

const known = "773081bdf95dd74e6c46c01cdb3846fc0643dbeff3108a7c4ee2d9963539544d";

test("a code of the other installation has the digest that installation stored, without its key being kept", () => {
  const secretKeyBase = "0123abcd".repeat(16);
  const key = keptCodeKey(secretKeyBase);
  expect(key).toHaveLength(32);
  const kept = writeImportedCodeKey({ key, messagePrefix: "42:" });
  expect(kept.toString("latin1")).not.toContain(secretKeyBase);
  const code = readImportedCode("A1B2C3D4E5 ");
  expect(importedCodeDigest(openImportedCodeKey(kept), code ?? "").toString("hex")).toBe(known);
});

test("a short key is kept as it is, for it could not be used otherwise", () => {
  expect(keptCodeKey("short")).toEqual(Buffer.from("short"));
  expect(keptCodeKey("x".repeat(64))).toHaveLength(64);
  expect(keptCodeKey("x".repeat(65))).toHaveLength(32);
});

test.each(["a1b2c3d4e", "a1b2c3d4e5f", "g1b2c3d4e5", "", "123456"])(
  "%j is no code of another installation",
  (typed) => {
    expect(readImportedCode(typed)).toBeUndefined();
  },
);
