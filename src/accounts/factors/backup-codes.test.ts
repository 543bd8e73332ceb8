import { expect, test } from "vitest";
import { systemRandom } from "../../base/random.ts";
import { backupCodesMade, makeBackupCodes, readBackupCode } from "./backup-codes.ts";

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
