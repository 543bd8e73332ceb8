import { expect, it } from "vitest";
import { renderPage } from "../page.ts";
import { LongText, renderInPieces } from "./long-text.tsx";

const million = 1_000_000;
const placeholder = '<template data-long-text="0"></template>';

const pageOf = (...texts: readonly string[]) => (
  <main>
    {texts.map((text) => (
      <pre key={text}>
        <LongText text={text} />
      </pre>
    ))}
  </main>
);

it("renders a short text at once", () => {
  expect(renderInPieces(pageOf("<b>"))).toBe("<!doctype html><main><pre>&lt;b></pre></main>");
});

it.each([
  ["markup", '<b class="a">&amp;</b>'],
  ["quotes", '"'],
  ["surrogate pairs at any place", "😀"],
  ["surrogate pairs after a single unit", "a😀😀😀😀😀😀😀"],
  ["a placeholder of its own", placeholder],
  ["replacement patterns", "$&$1$$"],
])("makes the same document of a long text in slices: %s", (_, unit) => {
  const long = unit.repeat(Math.ceil(million / unit.length));
  const page = pageOf(`0${placeholder}`, long, `${long} again`);
  const rendered = renderInPieces(page);
  if (typeof rendered === "string") throw new Error("The document has no long text.");
  const pieces = [...rendered.pieces];
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(128 * 1024);
  // Each piece is encoded by itself when it is sent.
  const html = Buffer.concat(pieces.map((piece) => Buffer.from(piece, "utf8"))).toString("utf8");
  // Compared by hand: the report of a difference would take minutes.
  expect(html === renderPage(page)).toBe(true);
});
