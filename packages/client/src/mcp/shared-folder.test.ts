import { posix, win32 } from "node:path";
import { expect, test } from "vitest";
import { isBelow } from "./shared-folder.ts";

test.each([
  "D:\\x",
  "D:x",
  "d:/secrets/x",
  "\\\\host\\share",
  "\\\\host\\share\\x",
  "//host/share/x",
  "\\\\?\\C:\\Users\\ada\\x",
  "\\\\.\\pipe\\x",
  "\\x",
  "C:\\x",
  "..",
  "..\\x",
  "sub\\..\\..\\x",
  "sub/../../x",
  "",
  ".",
])("on Windows, %s is outside of the folder", (named) => {
  expect(isBelow("C:\\shared", named, win32)).toBe(false);
});

test.each(["x", "sub\\x", "sub/x", "C:\\shared\\x", "c:\\SHARED\\x", "sub\\..\\x", "a..b"])(
  "on Windows, %s is inside",
  (named) => {
    expect(isBelow("C:\\shared", named, win32)).toBe(true);
  },
);

test.each(["/etc/passwd", "../x", "sub/../../x", ".."])("elsewhere, %s is outside", (named) => {
  expect(isBelow("/shared", named, posix)).toBe(false);
});

test.each(["x", "sub/x", "/shared/x", "D:\\x"])("elsewhere, %s is inside", (named) => {
  expect(isBelow("/shared", named, posix)).toBe(true);
});
