import { expect, test } from "vitest";
import { safeName } from "./saved-files.ts";

test.each([
  ["plan.pdf", "plan.pdf"],
  ["../../etc/passwd", "passwd"],
  ["C:\\\\Users\\\\ada\\\\plan.pdf", "plan.pdf"],
  [".bashrc", "bashrc"],
  ["..", "file"],
  ["", "file"],
  ["a/", "file"],
  ["a\u001b[2Jb\u202efdp.exe", "a_[2Jb_fdp.exe"],
  ['a<b>:"|?*.txt', "a_b______.txt"],
  [`${"報".repeat(200)}.xlsx`, `${"報".repeat(53)}.xlsx`],
  ["NUL", "_NUL"],
  ["com1.txt", "_com1.txt"],
  ["console.txt", "console.txt"],
  [`${"x".repeat(300)}.${"y".repeat(300)}`, `${"x".repeat(100)}.${"y".repeat(19)}`],
])("the file %j is saved as %j", (filename, saved) => {
  expect(safeName(filename)).toBe(saved);
});
