import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { envelopeKeyId, open, type SealingKey, seal, sealingKey, sealOverheadBytes, unringedKey } from "./seal.ts";
import { fixedRandom, hex, withFlippedBit } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

const key: SealingKey = sealingKey(hex("0a0b0c0d"), Buffer.alloc(32, 7));
const context = "push:42:payload";
const plaintext = Buffer.from("correct horse battery staple");
const envelope = seal(key, context, plaintext, systemRandom);

describe("known answers", () => {
  test.each(vectors.seal)("key $keyId, context $context", (vector) => {
    const vectorKey = sealingKey(hex(vector.keyId), hex(vector.key));
    const sealed = seal(vectorKey, vector.context, hex(vector.plaintext), fixedRandom(vector.nonce));
    expect(sealed.toString("hex")).toBe(vector.envelope);
    expect(open(vectorKey, vector.context, hex(vector.envelope))?.toString("hex")).toBe(vector.plaintext);
    expect(envelopeKeyId(sealed)).toBe(vector.keyId);
  });
});

describe("round trip", () => {
  test("a sealed value opens and has the documented overhead", () => {
    const anyKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => unringedKey(Buffer.from(bytes)));
    const anyContext = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(anyKey, anyContext, fc.uint8Array({ maxLength: 5000 }), (sealingKey, rowContext, bytes) => {
        const sealed = seal(sealingKey, rowContext, bytes, systemRandom);
        expect(sealed.length).toBe(bytes.length + sealOverheadBytes);
        expect(open(sealingKey, rowContext, sealed)).toEqual(Buffer.from(bytes));
        expect(open(sealingKey, rowContext, Uint8Array.from(sealed))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test("sealing a value twice gives different envelopes", () => {
    const nonces = Array.from({ length: 1000 }, () =>
      seal(key, context, plaintext, systemRandom).subarray(5, 17).toString("hex"),
    );
    expect(new Set(nonces).size).toBe(nonces.length);
  });
});

describe("misuse", () => {
  test("an envelope with any bit flipped does not open", () => {
    for (let at = 0; at < envelope.length; at += 1) {
      for (const bit of [0, 3, 7]) expect(open(key, context, withFlippedBit(envelope, at, bit))).toBeUndefined();
    }
  });

  test("a value moved to another row or field does not open", () => {
    for (const other of ["push:43:payload", "push:42:name", "push:4", "", `${context} `, context.toUpperCase()]) {
      expect(open(key, other, envelope)).toBeUndefined();
    }
  });

  test("another key does not open it, even under the same id", () => {
    expect(open(sealingKey(key.id, Buffer.alloc(32, 8)), context, envelope)).toBeUndefined();
  });

  test("an envelope with another key id does not open, even if the key bytes are equal", () => {
    const twin = { id: hex("01020304"), key: key.key };
    expect(open(twin, context, envelope)).toBeUndefined();
    const relabelled = Buffer.from(envelope);
    twin.id.copy(relabelled, 1);
    expect(open(twin, context, relabelled)).toBeUndefined();
  });

  test("truncated, extended and repeated envelopes do not open", () => {
    for (let length = 0; length < envelope.length; length += 1) {
      expect(open(key, context, envelope.subarray(0, length))).toBeUndefined();
    }
    expect(open(key, context, Buffer.concat([envelope, Buffer.alloc(1)]))).toBeUndefined();
    expect(open(key, context, Buffer.concat([envelope, envelope]))).toBeUndefined();
  });

  test("hostile bytes return undefined and never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const labelled = Buffer.concat([Uint8Array.of(1), key.id, bytes]);
        expect(open(key, context, bytes)).toBeUndefined();
        expect(open(key, context, labelled)).toBeUndefined();
      }),
    );
  });

  test("only an envelope of this version has a key id", () => {
    expect(envelopeKeyId(envelope)).toBe("0a0b0c0d");
    expect(envelopeKeyId(withFlippedBit(envelope, 0, 1))).toBeUndefined();
    expect(envelopeKeyId(envelope.subarray(0, sealOverheadBytes - 1))).toBeUndefined();
    expect(envelopeKeyId(Buffer.alloc(0))).toBeUndefined();
  });
});
