import { describe, expect, it } from "vitest";
import { messagesIn } from "../../test/support/messages.ts";
import { chooseLocale, en, findMessages } from "./i18n.ts";

const de = messagesIn("de");
const fr = messagesIn("fr");
const ar = messagesIn("ar");

describe("chooseLocale", () => {
  const choose = (query: string | undefined, acceptLanguage: string | undefined, account?: string) =>
    chooseLocale({ query, account, acceptLanguage });
  const tagOf = (query: string | undefined, header: string | undefined) => choose(query, header).messages.locale.tag;

  it("prefers the query to the account and the header", () => {
    expect(choose("fr", "de", "es")).toEqual({ messages: fr, fromQuery: true });
  });

  it("prefers the account's language to the browser's", () => {
    expect(choose(undefined, "de", "fr")).toEqual({ messages: fr, fromQuery: false });
    expect(choose("tlh", "de", "fr")).toEqual({ messages: fr, fromQuery: false });
    expect(choose(undefined, "de", "tlh")).toEqual({ messages: de, fromQuery: false });
  });

  it("skips languages that are not supported", () => {
    expect(choose("tlh", "de")).toEqual({ messages: de, fromQuery: false });
    expect(tagOf("../../etc/passwd", undefined)).toBe("en");
    expect(tagOf("x".repeat(10_000), undefined)).toBe("en");
  });

  it("takes the supported language of the highest quality", () => {
    expect(tagOf(undefined, "tlh, es;q=0.4, ja;q=0.8, de;q=0")).toBe("ja");
    expect(tagOf(undefined, "de;q=0")).toBe("en");
    expect(tagOf(undefined, "de;q=nonsense, fr;q=0.1")).toBe("fr");
  });

  it("reads regions and the ways people write tags", () => {
    expect(tagOf(undefined, "de-AT")).toBe("de");
    expect(tagOf(undefined, "pt")).toBe("pt-BR");
    expect(tagOf("pt_br", undefined)).toBe("pt-BR");
    expect(tagOf(undefined, "pt-PT,en;q=0.5")).toBe("pt-BR");
    expect(findMessages("AR")).toBe(ar);
  });

  it("falls back to the setting, then to English", () => {
    const none = { query: undefined, account: undefined, acceptLanguage: "tlh" };
    expect(chooseLocale({ ...none, defaultLocale: "fr" })).toEqual({ messages: fr, fromQuery: false });
    expect(tagOf(undefined, undefined)).toBe("en");
    expect(tagOf(undefined, "*")).toBe("en");
  });
});

describe("plural forms", () => {
  it("spell out one in English and German", () => {
    expect(en.created.opens({ count: 1 })).toBe("Opens once");
    expect(en.created.opens({ count: 1_200 })).toBe("Opens 1,200 times");
    expect(de.secret.viewsLeft({ count: 1 })).toBe("noch 1 Aufruf");
  });

  it("follow all six categories of Arabic", () => {
    const opens = (count: number) => ar.created.messageViews({ count });
    expect([0, 1, 2, 3, 11, 100].map(opens)).toEqual([
      "لم يعد يُفتح.",
      "يُفتح مرة واحدة فقط.",
      "يُفتح مرتين.",
      "يُفتح 3 مرات.",
      "يُفتح 11 مرة.",
      "يُفتح 100 مرة.",
    ]);
  });

  it("count zero as singular in French", () => {
    expect(fr.step.viewsLeft({ count: 0 })).toBe(fr.step.viewsLeft({ count: 1 }));
  });
});

describe("values in a sentence", () => {
  it("are numbers as the language writes them", () => {
    expect(de.problems.payload({ max: 1_048_576 })).toBe("Geben Sie zwischen 1 und 1.048.576 Zeichen ein.");
  });

  it("are kept apart from right-to-left text", () => {
    expect(ar.secret.follow({ host: "example.com" })).toBe("المتابعة إلى \u2068example.com\u2069");
  });

  it("keep their order where they are right-to-left text with values of its own", () => {
    const field = ar.problems.of({ field: "نص", problem: "الأيام" });
    expect(ar.problems.of({ field, problem: "x" })).toBe(`\u2067${field}\u2069: \u2068x\u2069`);
  });

  it("may be elements", () => {
    const piece = { element: true };
    expect(en.step.until.parts({ date: piece })).toEqual(["It is available until ", piece, "."]);
  });

  it("are inserted as they are, braces and all", () => {
    expect(en.nav.signedInAs({ email: "{email}$&" })).toBe("Signed in as {email}$&");
  });
});

describe("formats", () => {
  it("write sizes in binary steps, with a unit that stays on the line of its number", () => {
    expect(en.formats.bytes(0)).toBe("0\u00a0bytes");
    expect(en.formats.bytes(1_536)).toBe("1.5\u00a0kB");
    expect(de.formats.bytes(4 * 2 ** 30)).toBe("4\u00a0GB");
    expect(en.formats.bytes(2 ** 60)).toBe("1,048,576\u00a0TB");
  });

  it("write times in UTC with the time zone's name", () => {
    expect(en.formats.dateTime(Date.UTC(2027, 2, 3, 14, 5))).toBe("March 3, 2027 at 14:05 UTC");
    expect(ar.formats.dateTime(Date.UTC(2027, 2, 3, 14, 5))).toMatch(/2027.*14:05.*UTC/);
  });
});

describe("the region of numbers and dates", () => {
  it("is kept for the last fifty regions: clients choose them", () => {
    const of = (query: string) => chooseLocale({ query, account: undefined, acceptLanguage: undefined }).messages;
    const british = of("en-GB");
    expect(of("en-GB")).toBe(british);
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    for (const first of letters) for (const second of letters) of(`es-${first}${second}`);
    for (const first of letters) for (const second of letters) of(`fr-${first}${second}`);
    expect(of("en-GB")).not.toBe(british);
  });

  const time = Date.UTC(2027, 2, 3, 14, 5);
  const dateFor = (
    acceptLanguage: string | undefined,
    { query, account }: { query?: string; account?: string } = {},
  ) => {
    const { messages } = chooseLocale({ query, account, acceptLanguage });
    return messages.formats.dateTime(time);
  };

  it.each([
    ["en-GB,en;q=0.9", "3 March 2027 at 14:05 UTC"],
    ["en-US,en;q=0.9", "March 3, 2027 at 14:05 UTC"],
    ["en", "March 3, 2027 at 14:05 UTC"],
    ["en;q=0.8,en-AU;q=0.9", "3 March 2027 at 14:05 UTC"],
    ["de-AT", "3. März 2027 um 14:05 UTC"],
    ["pt-BR", "3 de março de 2027 às 14:05 UTC"],
    ["es-419", "3 de marzo de 2027 a las 14:05 UTC"],
    ["fr-CA", "3 mars 2027 à 14 h 05 UTC"],
    ["ar-SA", "3 مارس 2027 في 14:05 UTC"],
  ])("is that of %s", (header, date) => {
    expect(dateFor(header)).toBe(date);
  });

  it("is the browser's for the language of the query or the account", () => {
    expect(dateFor("de-AT,en-GB;q=0.5", { query: "en" })).toBe("3 March 2027 at 14:05 UTC");
    expect(dateFor("de-AT,en-GB;q=0.5", { account: "en" })).toBe("3 March 2027 at 14:05 UTC");
    expect(dateFor("en-GB", { query: "en-US" })).toBe("March 3, 2027 at 14:05 UTC");
  });

  it("is ignored if it is unknown or belongs to another language", () => {
    for (const header of ["en-ZZ", "en-", "en-GB-oxendict", "en,de-AT;q=0.5", "x-en-GB"]) {
      expect(dateFor(header)).toBe("March 3, 2027 at 14:05 UTC");
    }
  });

  it("formats numbers in messages and keeps the language", () => {
    const { messages } = chooseLocale({ query: undefined, account: undefined, acceptLanguage: "de-CH" });
    expect(messages.locale).toEqual({ ...de.locale, formatTag: "de-CH" });
    expect(messages.problems.tooLong({ max: 1_048_576 })).toBe("Geben Sie höchstens 1'048'576 Zeichen ein.");
  });

  it("is right after more regions than are kept", () => {
    const regions = Array.from({ length: 26 * 26 }, (_, n) => String.fromCharCode(65 + n / 26, 65 + (n % 26)));
    for (const region of regions) dateFor(`en-${region}`);
    expect(dateFor("en-GB")).toBe("3 March 2027 at 14:05 UTC");
  });
});
