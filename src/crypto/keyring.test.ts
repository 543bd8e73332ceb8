import { describe, expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { createKeyring, parseMasterKeys } from "./keyring.ts";
import { fixedRandom, hex, withFlippedBit } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

const first = Buffer.alloc(32, 1);
const second = Buffer.alloc(32, 2);
const third = Buffer.alloc(32, 3);
const value = Buffer.from("a data key");
const publishedKey = "749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f";

function ring(...masterKeys: Buffer[]) {
  return createKeyring(masterKeys, systemRandom);
}

describe("createKeyring", () => {
  test.each(vectors.masterKey)("known answer, key $id", (vector) => {
    const keyring = createKeyring([hex(vector.master)], fixedRandom(vector.nonce));
    expect(keyring.ids).toEqual([vector.id]);
    expect(keyring.active.key.export().toString("hex")).toBe(vector.sealingKey);
    expect(keyring.seal(vector.context, hex(vector.plaintext)).toString("hex")).toBe(vector.envelope);
    expect(keyring.open(vector.context, hex(vector.envelope))?.toString("hex")).toBe(vector.plaintext);
  });

  test("the master key itself is never used for sealing", () => {
    expect(ring(first).active.key.export()).not.toEqual(first);
  });

  test("seals under the active key, opens under every key of the ring", () => {
    const old = ring(first).seal("row:1", value);
    const rotated = ring(second, first);
    expect(rotated.open("row:1", old)).toEqual(value);
    expect(rotated.sealedUnderActive(old)).toBe(false);
    const resealed = rotated.seal("row:1", value);
    expect(rotated.sealedUnderActive(resealed)).toBe(true);
    expect(ring(second).open("row:1", resealed)).toEqual(value);
    expect(ring(first).open("row:1", resealed)).toBeUndefined();
  });

  test("the order of the ring decides which key seals, not which keys open", () => {
    const sealed = [first, second, third].map((master) => ring(master).seal("row:1", value));
    for (const order of [ring(first, second, third), ring(third, first, second), ring(second, third, first)]) {
      for (const envelope of sealed) expect(order.open("row:1", envelope)).toEqual(value);
    }
    expect(ring(second, first).ids).toEqual([...ring(first, second).ids].reverse());
    expect(ring(second, first).active.id.toString("hex")).toBe(ring(second).ids[0]);
  });

  test("has only its own ids", () => {
    const keyring = ring(first, second);
    for (const id of keyring.ids) expect(keyring.has(id)).toBe(true);
    expect(keyring.has(ring(third).ids[0] ?? "")).toBe(false);
    expect(keyring.has("00000000")).toBe(false);
  });

  test("nothing opens after key removal, a moved row or changed bytes, or without an envelope", () => {
    const keyring = ring(first, second);
    const envelope = keyring.seal("row:1", value);
    expect(ring(third).open("row:1", envelope)).toBeUndefined();
    expect(keyring.open("row:2", envelope)).toBeUndefined();
    for (let at = 0; at < envelope.length; at += 1) {
      expect(keyring.open("row:1", withFlippedBit(envelope, at))).toBeUndefined();
    }
    expect(keyring.open("row:1", Buffer.alloc(0))).toBeUndefined();
    expect(keyring.sealedUnderActive(Buffer.alloc(0))).toBe(false);
    expect(keyring.sealedUnderActive(value)).toBe(false);
  });

  test("refuses an empty ring, a wrong length and a key given twice", () => {
    expect(() => ring()).toThrow("There is no master key.");
    expect(() => ring(first, Buffer.alloc(31))).toThrow("Master key 2 is not 32 bytes long.");
    expect(() => ring(first, second, Buffer.from(first))).toThrow("Master key 3 is given twice.");
  });
});

describe("parseMasterKeys", () => {
  const a = "Ab".repeat(32);
  const b = "cd".repeat(32);
  const c = "0F".repeat(32);

  test("returns the active key first, then the previous ones; case and surrounding blanks do not matter", () => {
    expect(parseMasterKeys(a, undefined)).toEqual([hex(a)]);
    expect(parseMasterKeys(` ${a}\n`, ` ${b} ,\t${c}\n`)).toEqual([hex(a), hex(b), hex(c)]);
    expect(parseMasterKeys(a, `${b},`)).toEqual([hex(a), hex(b)]);
    expect(parseMasterKeys(a, " ")).toEqual([hex(a)]);
  });

  test("returns no key when none is given", () => {
    expect(parseMasterKeys(undefined, undefined)).toEqual([]);
    expect(parseMasterKeys(" ", "")).toEqual([]);
  });

  test("previous keys without an active key are an error", () => {
    expect(() => parseMasterKeys(undefined, b)).toThrow("no active master key");
  });

  test.each([
    ["one digit short", a.slice(1)],
    ["one digit long", `${a}0`],
    ["not hex", "g".repeat(64)],
    ["blanks inside", `${a.slice(0, 31)}  ${a.slice(0, 31)}`],
    ["hex with a prefix", `0x${a.slice(2)}`],
    ["a second line", `${a}\n${a}`],
  ])("names a malformed key without repeating it: %s", (_, text) => {
    const problem = (parse: () => unknown): string => {
      try {
        parse();
      } catch (error) {
        return String(error);
      }
      throw new Error("It was accepted.");
    };
    expect(problem(() => parseMasterKeys(text, undefined))).toBe(
      "Error: The active master key must be exactly 64 hex digits (32 bytes).",
    );
    expect(problem(() => parseMasterKeys(b, `${c},${text}`))).toBe(
      "Error: Previous master key 2 must be exactly 64 hex digits (32 bytes).",
    );
  });

  test("a published default key is refused as the active key, but accepted as a previous one", () => {
    expect(() => parseMasterKeys(publishedKey, undefined)).toThrow(/published default/);
    expect(() => parseMasterKeys(publishedKey.toUpperCase(), b)).toThrow(/published default/);
    expect(parseMasterKeys(b, publishedKey)).toEqual([hex(b), hex(publishedKey)]);
  });
});
