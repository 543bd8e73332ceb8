import fc from "fast-check";
import { expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import { JsonNumber, JsonReader, textCharactersMax } from "./json-reader.ts";

/** @param sizes of the chunks, in turn; none: one chunk. */
function parseBytes(body: Buffer, sizes: readonly number[] = []): unknown {
  const reader = new JsonReader();
  let at = 0;
  for (let turn = 0; at < body.length; turn += 1) {
    const size = sizes[turn % Math.max(1, sizes.length)] ?? body.length;
    reader.write(body.subarray(at, at + size));
    at += size;
  }
  return reader.end();
}
const parse = (text: string) => parseBytes(Buffer.from(text));

const chunkSizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

test("every JSON text gives the values of JSON.parse, in whatever chunks it arrives", () => {
  const spaces = fc.constantFrom(undefined, 1, "\r\n\t");
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), spaces, chunkSizes, (value, space, sizes) => {
      const text = JSON.stringify(value, undefined, space);
      const parsed = parseBytes(Buffer.from(text.toWellFormed()), sizes);
      const asNumber = (_: string, item: unknown) => (item instanceof JsonNumber ? Number(item.text) : item);
      expect(JSON.stringify(parsed, asNumber)).toBe(JSON.stringify(JSON.parse(text.toWellFormed())));
    }),
    { numRuns: 500 },
  );
});

test("what JSON.parse refuses is refused, and nothing else", () => {
  const pieces = fc.constantFrom(
    '"a"',
    '"\\u00e9"',
    '"\\ud800"',
    '"\\x"',
    "1",
    "-0",
    "01",
    "1.5e3",
    "1.",
    "+1",
    "true",
    "nul",
    "null",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    '"a":',
    '"',
    "\\",
    "\u000b",
    "'",
    "-",
    "Infinity",
  );
  const accepts = (read: () => unknown): boolean => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), chunkSizes, (parts, sizes) => {
      const text = parts.join("");
      expect(accepts(() => parseBytes(Buffer.from(text), sizes))).toBe(accepts(() => JSON.parse(text)));
    }),
    { numRuns: 3_000 },
  );
});

test("a lone surrogate stays one, and halves in different chunks become one character", () => {
  expect(parse('"\\ud800"')).toBe("\ud800");
  const body = Buffer.from('"\\ud83d\\ude00"');
  for (let at = 1; at < body.length; at += 1) expect(parseBytes(body, [at])).toBe("😀");
});

test("texts longer than all fields together may be are refused as too large", () => {
  const reader = new JsonReader();
  reader.write(Buffer.from('["'));
  const chunk = Buffer.alloc(64 * 1024, "a");
  const send = () => {
    for (let sent = 0; sent <= textCharactersMax; sent += chunk.length) reader.write(chunk);
  };
  expect(send).toThrow("The texts of a body may have");
});

test("JSON values keep their exact text", () => {
  expect(parse('{"push": {"payload": "a\\u0000\\n\\"\\u00e9\\ud83d\\ude00"}}')).toEqual({
    push: { payload: 'a\u0000\n"é😀' },
  });
});

test.each([
  "",
  "{",
  '{"a":1,}',
  "undefined",
  "NaN",
  "{'a':1}",
  '"\t"',
  "\ufeff",
  "\ufeff{}x",
  "\ufeff\ufeff{}",
  "{\ufeff}",
])("%j is refused", (text) => {
  expect(() => parse(text)).toThrow(AppError);
});

test("a byte order mark before the JSON is dropped; one inside a string is kept", () => {
  expect(parse('\ufeff{"payload": "\ufeffx"}')).toEqual({ payload: "\ufeffx" });
  expect(parse(`\ufeff{"payload": "${"x".repeat(20_000)}"}`)).toEqual({ payload: "x".repeat(20_000) });
});

test("the refusal does not quote the body", () => {
  expect(() => parse('{"payload": hunter2')).toThrow(/^The body is not valid JSON\.$/);
});

test("bytes that are not UTF-8 are refused", () => {
  expect(() => parseBytes(Buffer.from([0x22, 0xff, 0x22]))).toThrow("not valid UTF-8");
});

test("__proto__ and constructor change no prototype", () => {
  const value = parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}');
  expect(Object.getPrototypeOf(value)).toBeNull();
  expect(Reflect.get({}, "polluted")).toBeUndefined();
  expect(Object.hasOwn(Object(value), "__proto__")).toBe(true);
});

test("a body of many nested or tiny values is refused before it is parsed", () => {
  expect(() => parse("[".repeat(1_000_000))).toThrow("deeply nested");
  expect(() => parse(`[${"[],".repeat(1_000_000)}[]]`)).toThrow("too many");
  expect(() => parse(`[${"1,".repeat(1_000_000)}1]`)).toThrow("too many");
  expect(() => parse(`{"a":"${'\\"'.repeat(50_000)}`)).toThrow("not valid JSON");
});

test("brackets and commas inside a long string are text", () => {
  const text = '[{,"\\'.repeat(50_000);
  expect(parse(JSON.stringify({ push: { payload: text } }))).toEqual({ push: { payload: text } });
});
