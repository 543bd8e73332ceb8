import { describe, expect, test } from "vitest";
import { AnswerLine } from "./terminal.ts";

function typed(...parts: readonly string[]) {
  const line = new AnswerLine();
  const states = parts.map((part) => line.add(part));
  return { text: line.text, state: states.at(-1) };
}

describe("an answer at the terminal", () => {
  test.each([
    [["abc\r"], "abc", "complete"],
    [["a", "bc", "\n"], "abc", "complete"],
    [["abc\u0004"], "abc", "complete"],
    [["abc"], "abc", "incomplete"],
    [["ab\u0003"], "ab", "interrupted"],
    [["p\u00e4\ud83d\udd11\u007f\bx\r"], "px", "complete"],
    [["\u001b[200~two\rlines\u001b[201~\r"], "two\nlines", "complete"],
    [["a\u001b[2", "00~b\r\u001b[20", "1~c", "\r"], "ab\nc", "complete"],
    [["\u001b[200~a\u0003b\u001b[201~\r"], "a\u0003b", "complete"],
  ])("%j", (parts, text, state) => {
    expect(typed(...parts)).toEqual({ text, state });
  });
});
