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
  await page.locator("summary").filter({ hasText: generator.heading }).click();
  await page.locator("[data-suggestion]").waitFor();
}

/** Generates many suggestions, as fast as the page can. */
async function drawMany(page: Page): Promise<readonly string[]> {
  return await page.evaluate(`Array.from({ length: ${suggestionsDrawn} }, () => {
    document.querySelector("[data-another]").click();
    return document.querySelector("[data-suggestion]").textContent;
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

  it("inserts the suggestion at the cursor, and sends only the inserted text", async () => {
    const { page } = await site.visit();
    await openGenerator(page);
    const { payload } = newPushForm(page);
    await payload.fill("user: ada\npassword: ");
    await page.locator("[data-suggestion]").filter({ hasText: /./ }).waitFor();
    const suggestion = await page.locator("[data-suggestion]").textContent();
    await page.getByRole("button", { name: generator.use }).click();
    expect(await payload.inputValue()).toBe(`user: ada\npassword: ${suggestion}`);
    expect(await page.locator("[data-counter-number]").textContent()).toMatch(/^40 /);
    expect(await page.evaluate("document.activeElement.id")).toBe("push_payload");
    await expect.poll(() => page.locator("[data-suggestion]").textContent()).toBe("");

    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === "POST"),
      createLink(page).then(async (link) => {
        const answer = await site.fetch(`/api/v2/pushes/${urlTokenOf(link)}`);
        expect(await answer.json()).toMatchObject({ payload: `user: ada\npassword: ${suggestion}` });
      }),
    ]);
    expect(request.postData() ?? "").not.toContain("generator");
  });

  it("is hidden without scripts", async () => {
    const { page } = await site.visit({ javaScriptEnabled: false });
    await page.goto("/");
    expect(await page.locator("details.generator").isVisible()).toBe(false);
    expect(await page.getByRole("button", { name: en.newPush.suggestPassphrase }).count()).toBe(0);
  });
});
