import { describe, expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { fileKey, linkKey } from "./link-key.ts";
import { open, seal } from "./seal.ts";
import { hex } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

describe("linkKey", () => {
  test.each(vectors.linkKey)("known answer, passphrase hash $passphraseHash", (vector) => {
    const passphraseHash = vector.passphraseHash === null ? undefined : hex(vector.passphraseHash);
    const key = linkKey(vector.urlToken, hex(vector.salt), passphraseHash);
    expect(key.key.export().toString("hex")).toBe(vector.key);
    expect(key.id.toString("hex")).toBe("00000000");
  });

  test("the data key opens only with the right token, salt and passphrase", () => {
    const salt = Buffer.alloc(16, 1);
    const hash = Buffer.alloc(32, 2);
    const envelope = seal(linkKey("token", salt, hash), "push:1:key", Buffer.alloc(32, 9), systemRandom);
    expect(open(linkKey("token", salt, hash), "push:1:key", envelope)).toEqual(Buffer.alloc(32, 9));
    expect(open(linkKey("tokem", salt, hash), "push:1:key", envelope)).toBeUndefined();
    expect(open(linkKey("token", Buffer.alloc(16, 3), hash), "push:1:key", envelope)).toBeUndefined();
    expect(open(linkKey("token", salt, Buffer.alloc(32, 3)), "push:1:key", envelope)).toBeUndefined();
    expect(open(linkKey("token", salt, undefined), "push:1:key", envelope)).toBeUndefined();
  });

  test("a passphrase hash of another length throws, so no token can imitate a token with a hash", () => {
    for (const length of [0, 31, 33]) {
      expect(() => linkKey("token", Buffer.alloc(16), Buffer.alloc(length))).toThrow(RangeError);
    }
  });
});

describe("fileKey", () => {
  test.each(vectors.fileKey)("known answer, file $fileId", (vector) => {
    expect(fileKey(hex(vector.dataKey), vector.fileId).toString("hex")).toBe(vector.key);
  });

  test("refuses an invalid id", () => {
    for (const id of [1.5, Number.NaN, 2 ** 53]) expect(() => fileKey(Buffer.alloc(32), id)).toThrow(RangeError);
  });
});
