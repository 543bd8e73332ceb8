import { describe, expect, test } from "vitest";
import { createSodium, encodeParts, keyBytes, library, type Part } from "./sodium.ts";
import { loadNativeSodium, loadPortableSodium, loadSodium, nonceBytes } from "./sodium-library.ts";
import { fixedRandom, hex, withFlippedBit } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

const libraries = [await loadNativeSodium(), await loadPortableSodium()];
const key = hex("07".repeat(keyBytes));
const data = encodeParts("pushes", "payload", 42, null);
const randomOf = (start: string) => fixedRandom(start.repeat(nonceBytes));

describe.each(libraries)("$name", (loaded) => {
  const { sealAead, openAead, keyedHash, deriveKey } = createSodium(loaded);

  test.each(vectors.xchacha20Poly1305)("XChaCha20-Poly1305: $source", (vector) => {
    const sealed = hex(vector.nonce + vector.ciphertext + vector.tag);
    const associatedData = hex(vector.associatedData);
    const plaintext = hex(vector.plaintext);
    expect(sealAead(hex(vector.key), associatedData, plaintext, fixedRandom(vector.nonce)).equals(sealed)).toBe(true);
    expect(openAead(hex(vector.key), associatedData, sealed)?.equals(plaintext)).toBe(true);
  });

  test.each(vectors.blake2bKeyed)("BLAKE2b: $source", (vector) => {
    const hash = Buffer.alloc(64);
    loaded.hash(hash, hex(vector.message), hex(vector.key));
    expect(hash.toString("hex")).toBe(vector.hash);
  });

  test.each(vectors.keyedHash)("keyed hash of $parts: $source", ({ key: keyHex, bytes, parts, hash }) => {
    const [label = "", ...rest] = parts as [string, ...Part[]];
    expect(keyedHash(hex(keyHex), bytes, label, ...rest).toString("hex")).toBe(hash);
    if (bytes === keyBytes) expect(deriveKey(hex(keyHex), label, ...rest).toString("hex")).toBe(hash);
  });

  test("a value of any length opens with its key and its associated data", () => {
    for (const length of [0, 1, 63, 64, 65, 1_048_576]) {
      const plaintext = Buffer.alloc(length, 0x5a);
      const sealed = sealAead(key, data, plaintext, randomOf("01"));
      expect(sealed).toHaveLength(length + 40);
      expect(openAead(key, data, sealed)?.equals(plaintext)).toBe(true);
    }
  });

  test("nothing opens with another key or other associated data, changed, shortened or extended", () => {
    const sealed = sealAead(key, data, Buffer.from("secret"), randomOf("01"));
    expect(openAead(withFlippedBit(key, 31), data, sealed)).toBeUndefined();
    expect(openAead(key, encodeParts("pushes", "payload", 43, null), sealed)).toBeUndefined();
    for (let at = 0; at < sealed.length; at += 1) {
      expect(openAead(key, data, withFlippedBit(sealed, at))).toBeUndefined();
      expect(openAead(key, data, sealed.subarray(0, at))).toBeUndefined();
    }
    expect(openAead(key, data, Buffer.concat([sealed, Buffer.alloc(1)]))).toBeUndefined();
  });

  test("each value gets a nonce of its own", () => {
    const random = fixedRandom("01".repeat(nonceBytes) + "02".repeat(nonceBytes));
    const first = sealAead(key, data, Buffer.from("secret"), random);
    const second = sealAead(key, data, Buffer.from("secret"), random);
    expect(first.subarray(nonceBytes).equals(second.subarray(nonceBytes))).toBe(false);
  });

  test("another key, label, part or length gives an unrelated hash", () => {
    const hashes = [
      deriveKey(key, "label", "a", "b"),
      deriveKey(withFlippedBit(key, 0), "label", "a", "b"),
      deriveKey(key, "other", "a", "b"),
      deriveKey(key, "label", "ab"),
      deriveKey(key, "label", "a", "b", ""),
      deriveKey(key, "label", "a", "b", null),
      keyedHash(key, 33, "label", "a", "b").subarray(0, 32),
    ];
    expect(new Set(hashes.map((hash) => hash.toString("hex"))).size).toBe(hashes.length);
  });

  test("a key or a hash of another length throws", () => {
    for (const bytes of [0, 16, 31, 33, 64]) {
      const wrong = Buffer.alloc(bytes);
      expect(() => sealAead(wrong, data, data, randomOf("01"))).toThrow(RangeError);
      expect(() => openAead(wrong, data, Buffer.alloc(100))).toThrow(RangeError);
      expect(() => deriveKey(wrong, "label")).toThrow(RangeError);
    }
    for (const bytes of [0, 15, 65, 16.5, Number.NaN]) expect(() => keyedHash(key, bytes, "label")).toThrow(RangeError);
  });
});

test("both libraries open each other's values", () => {
  const [native, portable] = libraries.map(createSodium);
  const sealed = native?.sealAead(key, data, Buffer.from("secret"), randomOf("01")) ?? Buffer.alloc(0);
  expect(portable?.sealAead(key, data, Buffer.from("secret"), randomOf("01")).equals(sealed)).toBe(true);
  expect(portable?.openAead(key, data, sealed)?.toString()).toBe("secret");
});

test("the native library is used where it loads, the portable one where there is no build of it", async () => {
  expect(library).toBe("sodium-native");
  for (const code of ["ADDON_NOT_FOUND", "CANNOT_LOAD"]) {
    const loaded = await loadSodium(() => Promise.reject(Object.assign(new Error("no build"), { code })));
    expect(loaded.name).toBe("libsodium-wrappers");
  }
  await expect(loadSodium(() => Promise.reject(new Error("out of memory")))).rejects.toThrow("out of memory");
});

describe("the encoding of parts", () => {
  const lists: readonly (readonly Part[])[] = [
    [],
    [""],
    ["", ""],
    [null],
    ["a", "b"],
    ["ab"],
    ["a", null, "b"],
    [1],
    [256],
    [1, 0],
  ];

  test("no two lists have the same one", () => {
    expect(new Set(lists.map((parts) => encodeParts(...parts).toString("hex"))).size).toBe(lists.length);
  });

  test("numbers are safe integers from 0", () => {
    expect(encodeParts(Number.MAX_SAFE_INTEGER).toString("hex")).toBe("00000008001fffffffffffff");
    for (const number of [-1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1]) {
      expect(() => encodeParts(number)).toThrow(RangeError);
    }
  });
});
