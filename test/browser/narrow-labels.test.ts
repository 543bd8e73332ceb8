import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { en, languages } from "../../src/i18n/i18n.ts";
import { overflowing } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite();

/** The words that take more than one line. */
async function brokenWords(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`(() => {
    const words = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" });
    const broken = [];
    for (const element of document.querySelectorAll(${JSON.stringify(selector)})) {
      if (!element.checkVisibility()) continue;
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        for (const { segment, index, isWordLike } of words.segment(texts.currentNode.data)) {
          if (!isWordLike) continue;
          const range = document.createRange();
          range.setStart(texts.currentNode, index);
          range.setEnd(texts.currentNode, index + segment.length);
          const lines = new Set([...range.getClientRects()].map(({ top }) => top));
          if (lines.size > 1) broken.push(segment);
        }
      }
    }
    return broken;
  })()`);
}

it.each(languages.map(({ locale }) => locale.tag))(
  "labels and buttons break between words on a phone, in %s",
  async (locale) => {
    const { page } = await site.visit({ locale, signedIn: true, viewport: { width: 360, height: 800 } });
    const { urlToken } = await site.push({ payload: "secret" }, "owned");
    for (const path of ["/", "/?kind=qr", "/?kind=file", `/p/${urlToken}/edit`, `/p/${urlToken}/audit`]) {
      await page.goto(path);
      expect([path, await brokenWords(page, "main :is(.field-label, .button, h1, h2, h3, dt)")]).toEqual([path, []]);
    }
    await page.goto(`/p/${urlToken}/preview`);
    const buttons = await page.locator(".panel-toggle").all();
    const heights = await Promise.all(buttons.map((button) => button.evaluate(({ clientHeight }) => clientHeight)));
    // One line: an ellipsis stays beside its word.
    expect(new Set(heights)).toEqual(new Set([42]));
  },
);

/** What readers may set without losing anything (WCAG 2.2, 1.4.12). */
const wideSpacing =
  "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }";

it("labels beside a button break between words at 320 px with the widest spacing of text, in every language", async () => {
  for (const { locale } of languages) {
    const { page } = await site.visit({ locale: locale.tag, viewport: { width: 320, height: 800 } });
    await page.goto("/");
    await page.evaluate((rules) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(rules);
      document.adoptedStyleSheets.push(sheet);
    }, wideSpacing);
    expect([locale.tag, await brokenWords(page, ".field-head > .field-label")]).toEqual([locale.tag, []]);
    expect(await overflowing(page)).toEqual([]);
  }
});

it("the list of pushes has whole words in its header, states within their column, and filters of one line, in every language", async () => {
  const deletable = await site.push({ payload: "secret", deletable_by_viewer: true }, "owned");
  await site.fetch(`/api/v2/pushes/${deletable.urlToken}`, { method: "DELETE" });
  const used = await site.push({ payload: "secret", expire_after_views: 1 }, "owned");
  await site.fetch(`/api/v2/pushes/${used.urlToken}`);
  for (const { locale, dashboard } of languages) {
    const { page } = await site.visit({ locale: locale.tag, signedIn: true, viewport: { width: 1280, height: 800 } });
    await page.goto("/p");
    expect([locale.tag, await brokenWords(page, "thead th")]).toEqual([locale.tag, []]);
    const states = page.locator("td > .badge");
    expect(await states.allInnerTexts()).toEqual(
      expect.arrayContaining([dashboard.endedByViewer, dashboard.endedByViews, dashboard.unopened]),
    );
    const roomBeside = await states.evaluateAll((badges) =>
      badges.map((badge) => (badge.parentElement?.clientWidth ?? 0) - badge.clientWidth),
    );
    // Its padding on both sides.
    expect(Math.min(...roomBeside), locale.tag).toBeGreaterThanOrEqual(24);
    await page.setViewportSize({ width: 360, height: 800 });
    const filters = await page
      .locator(".segments a")
      .evaluateAll((links) => links.map(({ clientHeight }) => clientHeight));
    expect([locale.tag, ...filters]).toEqual([locale.tag, 44, 44, 44]);
  }
});

it("two numbers of a form end where its other fields end", async () => {
  const { page } = await site.visit({ signedIn: true, viewport: { width: 360, height: 800 } });
  await page.goto("/users/edit?tab=defaults");
  await page.locator(".account-kind summary").first().click();
  const endOf = (id: string) => page.locator(id).evaluate((field) => field.getBoundingClientRect().right);
  expect(await endOf("#text_views")).toBeCloseTo(await endOf("#first_kind"), 0);
});

it("addresses in the audit trail are shown alike on a phone, whatever happened: the label is for screen readers", async () => {
  const { page } = await site.visit({ signedIn: true, viewport: { width: 360, height: 800 } });
  const { urlToken } = await site.push({ payload: "secret" }, "owned");
  await site.fetch(`/api/v2/pushes/${urlToken}`);
  await page.goto(`/p/${urlToken}/audit`);
  const labels = page.locator(".timeline dt").filter({ hasText: en.dashboard.address });
  const clipped = await labels.evaluateAll((found) => found.map((label) => getComputedStyle(label).clipPath));
  expect(clipped).toEqual(["inset(50%)", "inset(50%)"]);
});

it("a label and its colon stay together in French", async () => {
  const { urlToken } = await site.push({ payload: "secret" }, "owned");
  const { page } = await site.visit({ locale: "fr", signedIn: true, viewport: { width: 360, height: 800 } });
  const content = (selector: string, pseudo: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element, name).content, pseudo);
  await page.goto(`/p/${urlToken}/edit`);
  expect(await content(".facts-inline dt", "::after")).toBe('"\u00a0:"');
  await page.goto("/p");
  expect(await content("td[data-label]", "::before")).toMatch(/\w\u00a0: "$/);
});
