import { describe, expect, it } from "vitest";
import type { MessageTree } from "../src/i18n/messages.ts";
import { findMessageProblems, messageValues } from "./messages.ts";

const english = {
  page: {
    plain: "a",
    sentence: "It is gone.",
    range: "{min, number} to {max, number}",
    from: "From {name}",
    since: "{count, plural, one {once since {date}} other {# times since {date}}}",
  },
};
const german = {
  page: {
    plain: "ä",
    sentence: "Es ist fort.",
    range: "{min, number} bis {max, number}",
    from: "Von {name}",
    since: "{count, plural, one {einmal seit {date}} other {#-mal seit {date}}}",
  },
};
const problemsOf = (page: MessageTree, tag = "de") => findMessageProblems(tag, { page }, english);

describe("findMessageProblems", () => {
  it("accepts messages that fit", () => {
    expect(problemsOf(german.page)).toEqual([]);
  });

  it("finds missing and surplus keys", () => {
    const { plain: _, ...others } = german.page;
    expect(problemsOf(others)).toEqual(["page.plain: missing"]);
    expect(problemsOf({ ...german.page, extra: "x" })).toEqual(["page.extra: not in English"]);
    expect(problemsOf({ ...german.page, plain: { deeper: "x" } })).toEqual([
      "page.plain: missing",
      "page.plain.deeper: not in English",
    ]);
  });

  it.each([
    ["from", "Von ihm", ["needs {name} as a string"]],
    ["from", "Von {name, number}", ["needs {name} as a string"]],
    ["from", "Von {nmae}", ["needs {name} as a string", "{nmae} is not in English"]],
    ["plain", "ä {name}", ["{name} is not in English"]],
    ["range", "{min, number} bis {max}", ["needs {max} as a number"]],
    [
      "range",
      "{min, number, percent} bis {max, number}",
      ["{min} has a type or style that is not supported", "needs {min} as a number"],
    ],
    ["since", "seit {date}", ["needs {count} as a number"]],
  ])("finds wrong placeholders in %s: %s", (key, text, problems) => {
    expect(problemsOf({ ...german.page, [key]: text })).toEqual(problems.map((problem) => `page.${key}: ${problem}`));
  });

  it.each([
    ["{count, plural, other {#-mal seit {date}}}", 'missing plural form "one"'],
    [
      "{count, plural, one {einmal seit {date}} many {oft seit {date}} other {# seit {date}}}",
      'surplus plural form "many"',
    ],
    ["{count, plural, one {einmal} other {#-mal seit {date}}}", 'plural form "one" lacks {date}'],
  ])("finds wrong plural forms: %s", (since, problem) => {
    expect(problemsOf({ ...german.page, since })).toEqual([`page.since: ${problem}`]);
  });

  it("takes the plural forms from the language", () => {
    expect(problemsOf(german.page, "ja")).toEqual(['page.since: surplus plural form "one"']);
    expect(problemsOf(german.page, "ar")).toEqual(
      ["zero", "two", "few", "many"].map((form) => `page.since: missing plural form "${form}"`),
    );
  });

  it.each(["Von {name", "Von {name, plural, one {x}}", "Von {}"])("finds invalid syntax: %s", (from) => {
    expect(problemsOf({ ...german.page, from })[0]).toMatch(/^page\.from: invalid ICU syntax: /);
  });

  it("finds sentences that are still English", () => {
    expect(problemsOf({ ...german.page, sentence: english.page.sentence })).toEqual(["page.sentence: not translated"]);
    expect(problemsOf({ ...german.page, plain: english.page.plain })).toEqual([]);
  });

  it("finds spaces before French punctuation where a line may break", () => {
    const plain = (space: string) => problemsOf({ ...german.page, plain: `Où${space}?` }, "fr");
    expect(plain(" ")).toContain("page.plain: a line may break before its punctuation");
    expect(plain("\u00a0")).not.toContain("page.plain: a line may break before its punctuation");
  });

  it.each(["", " ä", "ä\n"])("finds empty and padded messages: %j", (plain) => {
    expect(problemsOf({ ...german.page, plain })).toEqual(["page.plain: empty, or with spaces around it"]);
  });
});

it("makes the types of the values that messages take", () => {
  expect(messageValues(english)).toContain(`{
  readonly "page.range": { min: number; max: number };
  readonly "page.from": { name: string };
  readonly "page.since": { date: string; count: number };
}`);
});
