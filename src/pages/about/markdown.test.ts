import { expect, it } from "vitest";
import { renderMarkdown } from "./markdown.ts";

it("renders headings below the one of the page, lists, quotations and code", async () => {
  const text = "# We\n\nAsk **IT**.\n\n### Rules\n\n- one\n- `two`\n\n> quoted";
  expect(await renderMarkdown(text)).toBe(
    "<h2>We</h2>\n<p>Ask <strong>IT</strong>.</p>\n<h3>Rules</h3>\n<ul>\n<li>one</li>\n<li><code>two</code></li>\n</ul>\n" +
      "<blockquote>\n<p>quoted</p>\n</blockquote>\n",
  );
  expect(await renderMarkdown("### a\n\n###### b")).toBe("<h2>a</h2>\n<h3>b</h3>\n");
  expect(await renderMarkdown("## a\n\n# b\n\n### c\n\n## d")).toBe("<h2>a</h2>\n<h2>b</h2>\n<h3>c</h3>\n<h3>d</h3>\n");
});

it.each(["https://example.com/a?b=c", "http://example.com/", "mailto:it@example.com", "/help/api", "#rules"])(
  "links to %s without a referrer",
  async (address) => {
    expect(await renderMarkdown(`[it](${address})`)).toBe(
      `<p><a href="${address}" rel="noopener noreferrer">it</a></p>\n`,
    );
  },
);

it.each([
  "javascript:alert(1)",
  "JavaScript:alert(1)",
  "java&#115;cript:alert(1)",
  "&#1;javascript:alert(1)",
  "data:text/html,a",
  "vbscript:a",
  "file:///etc/passwd",
  "//evil.example",
  "p/token",
])("does not link to %s", async (address) => {
  expect(await renderMarkdown(`[it](${address}) <${address}>`)).not.toMatch(/<a|href="/);
});

it.each(["<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<p onclick=a>\n\n</p>", "```<b>\na\n```"])(
  "shows HTML as text: %s",
  async (html) => {
    expect(await renderMarkdown(html)).not.toMatch(/<(?:script|img|b)|<p /);
  },
);

it("shows no pictures", async () => {
  expect(await renderMarkdown("![a](/p/token) ![b](https://example.com/b.png)")).not.toContain("<img");
});
