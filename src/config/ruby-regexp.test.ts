import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { translateRubyRegExp } from "./ruby-regexp.ts";

function matches(source: string, text: string): boolean | "refused" {
  const translation = translateRubyRegExp(source);
  return translation.ok ? translation.pattern.test(text) : "refused";
}

describe("a regular expression of Ruby", () => {
  // Each answer is that of Ruby 3.1: Regexp.new(source).match?(text).
  it.each([
    ["\\A[^@\\s]+@[^@\\s]+\\z", { "ada@example.com": true, "ada@example.com\n": false }],
    ["@example\\.com\\Z", { "ada@example.com": true, "ada@example.com\n": true, "ada@example.com\n\n": false }],
    ["^ada$", { ada: true, "bob\nada\neve": true, adam: false, "bob\rada": false, "bob\u2028ada": false }],
    ["a$", { "a\n": true }],
    ["/@example\\.com/", { "ada@example.com": false, "/@example.com/": true }],
    ["\\A\\h+\\z", { "0aF": true, h: false }],
    ["\\A\\H\\z", { a: false, h: true, "\n": true }],
    ["\\A[\\h.]+\\z", { "a.f": true, g: false }],
    ["\\A[[:alnum:]]+\\z", { Ab1é٣: true, ":alnum": false, "a.b": false }],
    ["\\A[[:^alnum:]]\\z", { a: false, ".": true }],
    ["\\A\\w\\z", { é: false, _: true }],
    ["\\A\\d\\z", { "٣": false, "3": true }],
    ["\\s", { "\u00a0": false, "\v": true }],
    ["(?i)@EXAMPLE\\.com", { "ada@example.COM": true }],
    ["a(?i)b|c", { C: false, aC: true, aB: true, Ab: false }],
    ["(?i:a)b", { Ab: true, AB: false }],
    ["(?i)k", { "\u212a": true, K: true }],
    ["(?i)\\A\\w\\z", { "\u212a": false, K: true }],
    ["(?i)[^k]", { K: false, "\u212a": false }],
    ["a.b", { "a\nb": false, "a\u2028b": true }],
    ["\\A(?<name>a+)b\\z", { aab: true }],
    ["\\A(?:a|ab){2}+\\z", { aaabab: true }],
    ["\\Aa{2}?\\z", { "": true, aa: true, a: false }],
    ["\\Aa{,2}\\z", { "": true, aa: true, aaa: false, "a{,2}": false }],
    ["\\A[\\w-]+\\z", { "a-b": true }],
    ["\\A[\\w+\\-.]+@[a-z\\d\\-]+(\\.[a-z\\d\\-]+)*\\.[a-z]+\\z", { "a.b+c@d-e.org": true, "a@b": false }],
    ["{]}-/#", { "{]}-/#": true }],
  ] as const)("%s has the same meaning", (source, expected) => {
    for (const [text, match] of Object.entries(expected))
      expect(matches(source, text), JSON.stringify(text)).toBe(match);
  });

  it.each([
    ["(a)\\1", "\\1"],
    ["(?<n>a)\\k<n>", "\\k"],
    ["\\Gab", "\\G"],
    ["a\\Kb", "\\K"],
    ["\\R", "\\R"],
    ["\\X", "\\X"],
    ["(?x) a", "(?x"],
    ["(?~a)", "(?~"],
    ["(?(1)a|b)", "(?("],
    ["\\p{Lu}", "\\p"],
    ["\\bada", "\\b"],
    ["\\u{e9}", "\\u"],
    ["a\\n", "\\n"],
    ["(?m)a.b", "(?m"],
    ["(?>a|ab)c", "(?>"],
    ["a(?#comment)b", "(?#"],
    ["a*+b", "possessive"],
    ["[a-z&&k]", "&&"],
    ["[[ab]c]", "a class within a class"],
    ["[[:graph:]]", "[:graph:]"],
    ["(?i)é", "outside ASCII"],
    ["(?i)[[:upper:]]", "[:upper:]"],
    ["[]a]", "]"],
    ["[b-a]", "wrong order"],
    ["a{2,1}", "wrong order"],
    ["a{100000}", "1000 times"],
    ["\\A*", "cannot be repeated"],
    ["*a", "* that nothing precedes"],
    ["a)", "not open"],
    ["(a", "not closed"],
    ["\\", "ends within"],
    [`${"(".repeat(60)}a${")".repeat(60)}`, "nested"],
  ])("%s is refused, and the reason names the construct", (source, named) => {
    expect(translateRubyRegExp(source)).toEqual({ ok: false, reason: expect.stringContaining(named) });
  });

  it("matches literally after every character that is not a letter or digit was escaped", () => {
    const text = fc.string({ unit: "binary", maxLength: 12 }).filter((given) => given.isWellFormed());
    fc.assert(
      fc.property(text, text, (wanted, given) => {
        const escaped = [...wanted].map((character) =>
          /[\p{L}\p{N}]/u.test(character) ? character : `\\${character}`,
        );
        expect(matches(`\\A${escaped.join("")}\\z`, given)).toBe(given === wanted);
        expect(matches(`\\A${escaped.join("")}\\z`, wanted)).toBe(true);
      }),
    );
  });

  it("is translated or refused, whatever the text, and the reason is printable", () => {
    const part = fc.constantFrom(..."()[]{}*+?|^$.\\-&:=!<>#,/azAZhpPkiE1é\n");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const translation = translateRubyRegExp(parts.join(""));
        if (!translation.ok) expect(translation.reason).toMatch(/^it /);
      }),
    );
  });
});
