import { expect, test } from "vitest";
import { crc32 } from "./crc32.ts";

test("the CRC is that of the standard's check value, also when it goes on", () => {
  const bytes = new TextEncoder().encode("123456789");
  expect(crc32(bytes, 0)).toBe(0xcbf4_3926);
  expect(crc32(bytes.subarray(4), crc32(bytes.subarray(0, 4), 0))).toBe(0xcbf4_3926);
  expect(crc32(new Uint8Array(), 0)).toBe(0);
});
