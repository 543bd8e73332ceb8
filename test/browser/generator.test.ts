import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, newPushForm, urlTokenOf } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { generator } = en;
const suggestionsDrawn = 60;

async function openGenerator(page: Page): Promise<void> {
  await page.goto("/");
  await page.getByText(generator.format, { exact: true }).click();
}

/** Generates many suggestions, as fast as the page can. */
async function drawMany(page: Page): Promise<readonly string[]> {
  return await page.evaluate(`Array.from({ length: ${suggestionsDrawn} }, () => {
    document.querySelector("[data-generate]").click();
    return document.querySelector("#push_payload").value;
  })`);
}

const setRange = (page: Page, label: string, value: number) =>
  page.getByRole("slider", { name: label, exact: true }).fill(String(value));

describe("the password generator", () => {
  it("generates different passwords of the chosen length and alphabet", async () => {
    const { page } = await site.visit();
    await openGenerator(page);
    const withSymbols = await drawMany(page);
    expect(new Set(withSymbols).size).toBe(suggestionsDrawn);
    for (const password of withSymbols) {
      expect(password).toMatch(/^[a-zA-Z2-9!#%*+\-.:=?@_]{20}$/);
      for (const kind of [/[a-z]/, /[A-Z]/, /[2-9]/, /[^a-zA-Z0-9]/]) expect(password).toMatch(kind);
    }
    // 1,200 characters of 67: a uniform generator misses one of them less than once in a million runs.
    for (const letter of "abcdefghijkmnpqrstuvwxyz") expect(withSymbols.join("")).toContain(letter);

    await setRange(page, generator.length, 32);
    await page.getByLabel(generator.symbols).uncheck();
    const plain = await drawMany(page);
    for (const password of plain) expect(password).toMatch(/^[a-zA-Z2-9]{32}$/);
    expect(await page.getByText(generator.strength({ bits: "185" })).isVisible()).toBe(true);
  });

  it("generates memorable words, with capitals and a number on request", async () => {
    const { page } = await site.visit();
    await openGenerator(page);
    await page.getByText(generator.words, { exact: true }).first().click();
    const messages = await drawMany(page);
    for (const phrase of messages) expect(phrase).toMatch(/^[a-z]+(-[a-z]+){4}$/);
    expect(new Set(messages.join("-").split("-")).size).toBeGreaterThan(150);

    await setRange(page, generator.wordCount, 7);
    await page.getByLabel(generator.numberAndCapitals).check();
    for (const phrase of await drawMany(page)) expect(phrase).toMatch(/^[A-Z][a-z]+(-[A-Z][a-z]+){6}-\d\d$/);
  });

  it("generates pronounceable syllables, with capitals, digits and separators on request", async () => {
    const { page } = await site.visit();
    await openGenerator(page);
    await page.getByText(generator.syllables, { exact: true }).click();
    const syllable = "[BCDFGHKLMNPRSTVZ](?:[aeiouy][bcdfghklmnprstvz]?)?\\d";
    const passwords = await drawMany(page);
    for (const password of passwords) expect(password).toMatch(new RegExp(`^${syllable}(?:[-_=]${syllable}){2}$`));
    expect(new Set(passwords).size).toBe(suggestionsDrawn);
    expect(await page.getByText(generator.strength({ bits: "39" })).isVisible()).toBe(true);

    await setRange(page, generator.syllableCount, 8);
    for (const label of [generator.capitals, generator.digits, generator.separators]) {
      await page.getByLabel(label, { exact: true }).uncheck();
    }
    for (const password of await drawMany(page)) expect(password).toMatch(/^[bcdfghklmnprstvzaeiouy]{8,24}$/);
  });

  const generate = (page: Page) => page.getByRole("button", { name: generator.heading });

  it.each(["text", "qr"])(
    "fills an empty field of a %s push by one click, and sends only the password",
    async (kind) => {
      const { page } = await site.visit();
      await page.goto(`/?kind=${kind}`);
      const { payload } = newPushForm(page);
      await generate(page).click();
      const first = await payload.inputValue();
      expect(first).toMatch(/^\S{20}$/);
      expect(await page.getByText(generator.strength({ bits: "121" })).isVisible()).toBe(true);
      await generate(page).click();
      const password = await payload.inputValue();
      expect(password).not.toBe(first);

      const [request] = await Promise.all([
        page.waitForRequest((sent) => sent.method() === "POST"),
        createLink(page).then(async (link) => {
          const answer = await site.fetch(`/api/v2/pushes/${urlTokenOf(link)}`);
          expect(await answer.json()).toMatchObject({ payload: password });
        }),
      ]);
      expect(request.postData() ?? "").not.toContain("generator");
    },
  );

  it("asks before it changes what was typed", async () => {
    const { page } = await site.visit();
    await page.goto("/");
    const { payload } = newPushForm(page);
    const typed = "user: ada\npassword: ";
    const choose = (name: string) => page.getByRole("button", { name, exact: true }).click();
    await payload.fill(typed);
    await generate(page).click();
    expect(await page.getByRole("group", { name: generator.ask }).isVisible()).toBe(true);
    expect(await page.evaluate("document.activeElement.textContent")).toBe(generator.replace);
    await choose(generator.keep);
    expect(await payload.inputValue()).toBe(typed);
    expect(await page.getByText(generator.ask).isVisible()).toBe(false);

    await generate(page).click();
    await choose(generator.insert);
    const inserted = await payload.inputValue();
    expect(inserted).toMatch(/^user: ada\npassword: \S{20}$/);
    expect(await page.evaluate("document.activeElement.textContent")).toContain(generator.heading);

    await generate(page).click();
    expect(await payload.inputValue()).toBe(inserted);
    await choose(generator.replace);
    expect(await payload.inputValue()).toMatch(/^\S{20}$/);
  });

  it("applies a choice at once to its own password, never to typed text, and the browser remembers it", async () => {
    const { page } = await site.visit();
    await openGenerator(page);
    const { payload } = newPushForm(page);
    await page.getByText(generator.words, { exact: true }).click();
    expect(await payload.inputValue()).toBe("");
    await page.getByRole("button", { name: generator.heading }).click();
    await setRange(page, generator.wordCount, 7);
    expect(await payload.inputValue()).toMatch(/^[a-z]+(-[a-z]+){6}$/);
    await payload.press("x");
    const typed = await payload.inputValue();
    await setRange(page, generator.wordCount, 8);
    expect(await payload.inputValue()).toBe(typed);

    expect(String(await page.evaluate("JSON.stringify({ ...localStorage })"))).not.toContain(typed.slice(0, -1));
    await page.goto("/?kind=qr");
    await generate(page).click();
    expect(await payload.inputValue()).toMatch(/^[a-z]+(-[a-z]+){7}$/);
  });

  it("is hidden without scripts", async () => {
    const { page } = await site.visit({ javaScriptEnabled: false });
    await page.goto("/");
    expect(await page.locator(".generator").isVisible()).toBe(false);
    expect(await page.getByRole("button", { name: en.newPush.suggestPassphrase }).count()).toBe(0);
  });
});
