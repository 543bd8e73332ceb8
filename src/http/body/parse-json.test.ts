import { expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import { parseJson } from "./parse-json.ts";

const parse = (text: string) => parseJson(Buffer.from(text));

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
  expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow("not valid UTF-8");
});

test("__proto__ and constructor change no prototype", () => {
  const value = parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}');
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
