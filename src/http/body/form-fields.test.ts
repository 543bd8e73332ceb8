import fc from "fast-check";
import { expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import { decodeText } from "./body-parser.ts";
import { type FormFields, UrlencodedReader } from "./form-fields.ts";

const textBytesMax = 1_000_000;

function parseUrlencoded(body: Buffer, chunkBytes = body.length + 1): FormFields {
  const reader = new UrlencodedReader(textBytesMax, decodeText);
  for (let at = 0; at < body.length; at += chunkBytes) reader.write(body.subarray(at, at + chunkBytes));
  return reader.end();
}
const parse = (text: string) => JSON.parse(JSON.stringify(parseUrlencoded(Buffer.from(text, "latin1"))));

test("bracketed names give the same object as JSON", () => {
  expect(parse("push[payload]=a+b%26c&push%5Bname%5D=n&locale=de&push[files][]=&push[files][]=x&list[]=1")).toEqual({
    push: { payload: "a b&c", name: "n", files: ["", "x"] },
    locale: "de",
    list: ["1"],
  });
});

test("the last of two fields with the same name wins", () => {
  expect(parse("push[retrieval_step]=0&push[retrieval_step]=1")).toEqual({ push: { retrieval_step: "1" } });
});

test("empty pairs, names without a value and odd names", () => {
  expect(parse("&&a&b=&=c&x[y][z]=1&x[y][0][w]=2&[q]=2&x]=3&")).toEqual({ a: "", b: "", x: { y: ["1", "2"] } });
  expect(parse("push=text&push[payload]=a")).toEqual({ push: { payload: "a" } });
});

test("no field name reaches a prototype", () => {
  const fields = parseUrlencoded(Buffer.from("__proto__[polluted]=1&constructor[prototype]=1&push[__proto__]=1"));
  expect(Reflect.get({}, "polluted")).toBeUndefined();
  expect(Object.getPrototypeOf(fields)).toBeNull();
});

test.each(["a=%", "a=%zz", "a=%ff", "%c3=1", "a=\xff"])("%j is refused, not repaired", (text) => {
  expect(() => parse(text)).toThrow(AppError);
});

test("too many fields are refused", () => {
  expect(() => parse("a=1&".repeat(641))).toThrow("640 fields");
});

test("any text survives the form, in whatever chunks it arrives", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 20 }), (payload, chunkBytes) => {
      const body = Buffer.from(new URLSearchParams({ a: "b", "push[payload]": payload }).toString());
      expect(parseUrlencoded(body, chunkBytes)).toEqual({ a: "b", push: { payload } });
    }),
  );
});

test("decoded text beyond the limit is refused as too large, before the whole form has arrived", () => {
  const reader = new UrlencodedReader(textBytesMax, decodeText);
  reader.write(Buffer.from(`a=${"%61".repeat(textBytesMax - 1)}`));
  expect(() => reader.write(Buffer.from("b"))).toThrow("The fields of a form may have");
});
