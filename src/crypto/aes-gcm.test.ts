import { describe, expect, test } from "vitest";
import { aesKey, decrypt, encrypt } from "./aes-gcm.ts";
import { hex } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

describe("AES-256-GCM", () => {
  test.each(vectors.aes256Gcm)("$source", (vector) => {
    const key = aesKey(hex(vector.key));
    const nonce = hex(vector.nonce);
    const data = hex(vector.associatedData);
    const { ciphertext, tag } = encrypt(key, nonce, data, hex(vector.plaintext));
    expect(ciphertext.toString("hex")).toBe(vector.ciphertext);
    expect(tag.toString("hex")).toBe(vector.tag);
    expect(decrypt(key, nonce, data, hex(vector.ciphertext + vector.tag))?.toString("hex")).toBe(vector.plaintext);
  });

  test("a ciphertext with a shortened tag does not open", () => {
    const key = aesKey(Buffer.alloc(32));
    const nonce = Buffer.alloc(12);
    const data = Buffer.alloc(0);
    const { tag } = encrypt(key, nonce, data, data);
    for (let length = 0; length < tag.length; length += 1) {
      expect(decrypt(key, nonce, data, tag.subarray(0, length))).toBeUndefined();
    }
  });

  test("a key of another length throws", () => {
    const nothing = Buffer.alloc(0);
    expect(() => encrypt(aesKey(Buffer.alloc(16)), Buffer.alloc(12), nothing, nothing)).toThrow(/key length/i);
  });
});
