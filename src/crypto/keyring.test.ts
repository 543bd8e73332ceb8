import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { createKeyring, envelopeKeyId, parseMasterKeys, sealOverheadBytes } from "./keyring.ts";
import { type RotatedColumn, sealedColumn, underMasterKey } from "./sealed-column.ts";
import { fixedRandom, hex, withFlippedBit } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

const first = Buffer.alloc(32, 1);
const second = Buffer.alloc(32, 2);
const third = Buffer.alloc(32, 3);
const value = Buffer.from("a label");
const rows = { id: "id", owner: "owner_id" };
const name = sealedColumn("pushes", "name_sealed", underMasterKey("labels", rows));
const note = sealedColumn("pushes", "note_sealed", underMasterKey("labels", rows));
const email = sealedColumn("outbox", "email_sealed", underMasterKey("emails", rows));
const columns: readonly RotatedColumn[] = [name, note, email];
const row = { id: 1, ownerId: 7 };
const publishedKey = "749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f";

function ring(...masterKeys: Buffer[]) {
  return createKeyring(masterKeys, systemRandom);
}

describe("createKeyring", () => {
  test.each(vectors.masterKey)("known answer, key $keyId, $column", (vector) => {
    const keyring = createKeyring([hex(vector.master)], fixedRandom(vector.nonce));
    const column = vector.column === "name" ? name : email;
    expect(keyring.ids).toEqual([vector.keyId]);
    expect(keyring.seal(column, vector, hex(vector.plaintext)).toString("hex")).toBe(vector.envelope);
    expect(keyring.open(column, vector, hex(vector.envelope))?.toString("hex")).toBe(vector.plaintext);
    expect(envelopeKeyId(hex(vector.envelope))).toBe(vector.keyId);
  });

  test("a sealed value opens and has the documented overhead, and is another one each time", () => {
    const keyring = ring(first);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), fc.option(fc.nat()), (bytes, ownerId) => {
        const sealed = keyring.seal(name, { id: 1, ownerId }, bytes);
        expect(sealed.length).toBe(bytes.length + sealOverheadBytes);
        expect(keyring.open(name, { id: 1, ownerId }, sealed)).toEqual(Buffer.from(bytes));
        expect(keyring.seal(name, { id: 1, ownerId }, bytes)).not.toEqual(sealed);
      }),
    );
  });

  test("seals under the active key, opens under every key of the ring", () => {
    const old = ring(first).seal(name, row, value);
    const rotated = ring(second, first);
    expect(rotated.open(name, row, old)).toEqual(value);
    expect(rotated.sealedUnderActive(old)).toBe(false);
    const resealed = rotated.seal(name, row, value);
    expect(rotated.sealedUnderActive(resealed)).toBe(true);
    expect(ring(second).open(name, row, resealed)).toEqual(value);
    expect(ring(first).open(name, row, resealed)).toBeUndefined();
  });

  test("the order of the ring decides which key seals, not which keys open", () => {
    const sealed = [first, second, third].map((master) => ring(master).seal(name, row, value));
    for (const order of [ring(first, second, third), ring(third, first, second), ring(second, third, first)]) {
      for (const envelope of sealed) expect(order.open(name, row, envelope)).toEqual(value);
    }
    expect(ring(second, first).ids).toEqual([...ring(first, second).ids].reverse());
    expect(envelopeKeyId(ring(second, first).seal(name, row, value))).toBe(ring(second).ids[0]);
  });

  test("has only its own ids", () => {
    const keyring = ring(first, second);
    for (const id of keyring.ids) expect(keyring.has(id)).toBe(true);
    expect(keyring.has(ring(third).ids[0] ?? "")).toBe(false);
    expect(keyring.has("00000000")).toBe(false);
  });

  test("a value moved to another row, owner, column or purpose does not open", () => {
    const keyring = ring(first);
    const envelope = keyring.seal(name, row, value);
    expect(keyring.open(name, { ...row, id: 2 }, envelope)).toBeUndefined();
    expect(keyring.open(name, { ...row, id: "1" }, envelope)).toBeUndefined();
    expect(keyring.open(name, { ...row, ownerId: 8 }, envelope)).toBeUndefined();
    expect(keyring.open(name, { ...row, ownerId: null }, envelope)).toBeUndefined();
    for (const column of columns) {
      if (column !== name) expect(keyring.open(column, row, envelope)).toBeUndefined();
    }
    expect(keyring.open(note, row, keyring.seal(note, row, value))).toEqual(value);
  });

  test("no two columns, and no column and message, open each other's values", () => {
    const keyring = ring(first);
    for (const column of columns) {
      const envelope = keyring.seal(column, row, value);
      expect(columns.filter((other) => keyring.open(other, row, envelope) !== undefined)).toEqual([column]);
    }
    const message = keyring.sealMessage("backup manifest", ["a", 1], value);
    expect(keyring.openMessage("backup manifest", ["a", 1], message)).toEqual(value);
    expect(keyring.openMessage("backup manifest", ["a", 2], message)).toBeUndefined();
    expect(keyring.openMessage("passkey challenges", ["a", 1], message)).toBeUndefined();
    for (const column of columns) expect(keyring.open(column, row, message)).toBeUndefined();
  });

  test("nothing opens after key removal, changed, shortened or extended", () => {
    const keyring = ring(first, second);
    const envelope = keyring.seal(name, row, value);
    expect(ring(third).open(name, row, envelope)).toBeUndefined();
    for (let at = 0; at < envelope.length; at += 1) {
      for (const bit of [0, 3, 7]) expect(keyring.open(name, row, withFlippedBit(envelope, at, bit))).toBeUndefined();
      expect(keyring.open(name, row, envelope.subarray(0, at))).toBeUndefined();
    }
    expect(keyring.open(name, row, Buffer.concat([envelope, Buffer.alloc(1)]))).toBeUndefined();
    expect(keyring.open(name, row, Buffer.concat([envelope, envelope]))).toBeUndefined();
  });

  test("a key id of another key of the ring does not open it", () => {
    const keyring = ring(first, second);
    const relabelled = Buffer.from(keyring.seal(name, row, value));
    hex(keyring.ids[1] ?? "").copy(relabelled, 1);
    expect(keyring.open(name, row, relabelled)).toBeUndefined();
  });

  test("hostile bytes are no envelope and never throw", () => {
    const keyring = ring(first);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const labelled = Buffer.concat([Uint8Array.of(1), hex(keyring.ids[0] ?? ""), bytes]);
        for (const envelope of [bytes, labelled]) expect(keyring.open(name, row, envelope)).toBeUndefined();
      }),
    );
    const envelope = keyring.seal(name, row, value);
    for (const bytes of [
      Buffer.alloc(0),
      value,
      withFlippedBit(envelope, 0, 1),
      envelope.subarray(0, sealOverheadBytes - 1),
    ]) {
      expect(envelopeKeyId(bytes)).toBeUndefined();
      expect(keyring.sealedUnderActive(bytes)).toBe(false);
    }
  });

  test("refuses an empty ring, a wrong length, a key given twice and two keys with one id", () => {
    expect(() => ring()).toThrow("There is no master key.");
    expect(() => ring(first, Buffer.alloc(31))).toThrow("Master key 2 is not 32 bytes long.");
    expect(() => ring(first, second, Buffer.from(first))).toThrow("Master key 3 is given twice.");
    // Found by search: the ids of both are a8a4aaad.
    const sameIds = ["10a22", "1b5e2"].map((digits) => hex(digits.padStart(64, "0")));
    expect(() => ring(...sameIds)).toThrow("Master key 2 has the key id of another one");
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
