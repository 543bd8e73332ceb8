import { expect, test } from "vitest";
import { viewableTypeOf } from "./viewable-type.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

test.each([
  ["image/png", latin1("\x89PNG\r\n\x1a\n\0\0")],
  ["image/jpeg", latin1("\xff\xd8\xff\xe0\0\x10JFIF")],
  ["image/gif", latin1("GIF89a\x01\0")],
  ["image/webp", latin1("RIFF\n\0\0\0WEBPVP8 ")],
  ["image/avif", latin1("\0\0\0 ftypavif\0\0")],
  ["text/plain; charset=utf-8", Buffer.from("naïve\r\n\tключ 🔑")],
  ["text/plain; charset=utf-8", Buffer.alloc(0)],
  ["text/plain; charset=utf-8", Buffer.from("<html><script>alert(1)</script>")],
])("%s is recognised by its content", (type, bytes) => {
  expect(viewableTypeOf(bytes)).toBe(type);
});

test("a text may be cut within a character", () => {
  expect(viewableTypeOf(Buffer.from("key 🔑").subarray(0, -1))).toBe("text/plain; charset=utf-8");
});

test.each([
  ["a PDF", latin1("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")],
  ["a ZIP", latin1("PK\x03\x04\0\0")],
  ["text in Latin-1", latin1("na\xefve text")],
  ["UTF-16", Buffer.from("text", "utf16le")],
  ["text with a NUL", Buffer.from("a\0b")],
])("%s is not shown", (_what, bytes) => {
  expect(viewableTypeOf(bytes)).toBeUndefined();
});
