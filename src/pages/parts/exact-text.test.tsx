import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { ExactText } from "./exact-text.tsx";

const render = (text: string) => renderToString(<ExactText id="payload" text={text} />);

describe("ExactText", () => {
  it("keeps every blank and escapes all markup", () => {
    expect(render(" a\t<b>\n\n&amp; ")).toContain("> a\t&lt;b>\n\n&amp;amp; </pre>");
  });

  it("doubles a first line end, which a parser drops", () => {
    expect(render("\nkey")).toContain(">\n\nkey</pre>");
  });

  it("adds the exact bytes where a parser would change the text", () => {
    for (const text of ["a\r\nb", "\r", "nul\0 and ü"]) {
      const base64 = /data-exact-base64="([^"]*)"/.exec(render(text))?.[1] ?? "";
      expect(Buffer.from(base64, "base64").toString("utf8")).toBe(text);
    }
    expect(render("plain\n")).not.toContain("data-exact-base64");
  });
});
