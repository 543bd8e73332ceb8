import { expect, it } from "vitest";
import { readStyleSheet } from "./style-sheet.ts";

it("accepts colours, fonts and layout, and regenerates them", async () => {
  const css = `:root { --accent: #063; } /* ours */
@media (prefers-color-scheme: dark) { .card > h1::before { content: "Example"; color: var(--accent); } }`;
  expect(await readStyleSheet(css)).toEqual({
    ok: true,
    css: ':root{--accent:#063}@media (prefers-color-scheme:dark){.card>h1::before{content:"Example";color:var(--accent)}}',
  });
  expect(await readStyleSheet("")).toEqual({ ok: true, css: "" });
});

it.each([
  ["a { background: url(https://evil.example/x) }", "address"],
  ["a { background: url('/p/token') }", "address"],
  ["a { --x: url(https://evil.example/x) }", "address"],
  ['a { background: image-set("x.png" 1x) }', "function"],
  ['a { background: -webkit-image-set("x.png" 1x) }', "function"],
  ['a { background: src("x.png") }', "function"],
  ["a { width: expression(alert(1)) }", "function"],
  ["a { background: \\75rl(x) }", "function"],
  ["a::before { content: attr(href) }", "function"],
  ["a { content: ATTR(href) }", "function"],
  ['a { background: image("x.png") }', "function"],
  ['a { background: cross-fade("x.png", red) }', "function"],
  ['a { background: -webkit-cross-fade("x.png", "y.png") }', "function"],
  ["a { background: element(#link) }", "function"],
  ["a { background: -moz-element(#link) }", "function"],
  ["a { background: paint(x) }", "function"],
  ["a { -ms-behavior: none }", "property"],
  ["a { back\\67round: red }", "property"],
  ["a { behavior: none }", "property"],
  ["a { -moz-binding: none }", "property"],
  ['@import "https://evil.example/x.css";', "at_rule"],
  ["@font-face { font-family: a; src: local(a) }", "at_rule"],
  ['@charset "utf-7";', "at_rule"],
  ["@namespace a url(b);", "at_rule"],
  ["</style><script>alert(1)</script>", "unreadable"],
  ["a { color: r{e}d; }", "unreadable"],
  ["a { color: red", undefined],
])("refuses what could load, run or hide: %s", async (css, reason) => {
  const read = await readStyleSheet(css);
  if (reason === undefined) expect(read).toMatchObject({ ok: true, css: "a{color:red}" });
  else expect(read).toMatchObject({ ok: false, problem: { reason } });
});

it("reports the position", async () => {
  expect(await readStyleSheet("a { color: red }\nb { background: url(x) }")).toEqual({
    ok: false,
    problem: { reason: "address", name: "url", line: 2, column: 17 },
  });
});

it("accepts at most 64 KiB", async () => {
  expect(await readStyleSheet("a{}".repeat(30_000))).toEqual({
    ok: false,
    problem: { reason: "too_long", bytesMax: 65_536 },
  });
});

it("survives extreme nesting", async () => {
  for (const text of ["a{b:".concat("(".repeat(60_000)), "a{".repeat(30_000), "a:not(".repeat(9_000)]) {
    expect(await readStyleSheet(text)).toMatchObject({ ok: false, problem: { reason: "unreadable" } });
  }
});
