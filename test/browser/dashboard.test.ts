import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { pollHeader } from "../../src/base/poll-header.ts";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { created, dashboard } = en;

const rowOf = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: new RegExp(`^${name}`) }) });

describe.each([
  ["with scripts", { signedIn: true, javaScriptEnabled: true } as const],
  ["without scripts", { signedIn: true, javaScriptEnabled: false } as const],
])("the dashboard %s", (how, options) => {
  it("finds a push, deletes it, and shows its audit trail", async () => {
    const { page } = await site.visit(options);
    const name = `VPN ${how}`;
    const { urlToken } = await site.push({ payload: "secret", name, note: `for Jo, ${how}` }, "owned");
    await site.push({ payload: "secret", name: `other ${how}` }, "owned");
    await page.goto("/p");
    await page.getByLabel(dashboard.search, { exact: true }).fill(`JO, ${how}`);
    await page.getByRole("button", { name: dashboard.submit }).click();
    await page.getByRole("link", { name: dashboard.active, exact: true }).click();
    await page.waitForURL(/state=active/);
    expect(await page.getByRole("row").count()).toBe(2);
    const row = rowOf(page, name);
    expect(await row.getByText(dashboard.viewsOf({ used: 0, allowed: 5 })).isVisible()).toBe(true);

    await row.getByRole("button", { name: `${dashboard.expire} ${name}` }).click();
    await page.getByRole("heading", { name: dashboard.deleteHeading({ count: 1 }) }).waitFor();
    await page.getByRole("button", { name: dashboard.deleteConfirm }).click();
    await page.getByText(dashboard.nothingText).waitFor();
    expect(new URL(page.url()).search).toContain("state=active");
    expect(await page.getByText(dashboard.deleted).isVisible()).toBe(true);
    expect(await site.ownPush(urlToken)).toMatchObject({ deleted: true });

    await page.getByRole("link", { name: dashboard.ended, exact: true }).click();
    await row.getByText(dashboard.endedByOwner).waitFor();
    await row.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { name, exact: true }).waitFor();
    expect(await page.locator(".timeline h3").allTextContents()).toEqual([
      dashboard.owner.expire,
      dashboard.owner.creation,
    ]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: dashboard.csv }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^audit-.*\.csv$/);
  });
});

describe.each([
  ["with scripts", { signedIn: true, javaScriptEnabled: true } as const],
  ["without scripts", { signedIn: true, javaScriptEnabled: false } as const],
])("a list of pushes %s", (how, options) => {
  it("is sorted by its headers, and deletes what is selected", async () => {
    const { page } = await site.visit(options);
    const names = [5, 1, 3].map((days) => `${days} days ${how}`);
    for (const name of names) {
      await site.push({ payload: "secret", name, note: how, expire_after_days: Number(name[0]) }, "owned");
    }
    await page.goto(`/p?q=${encodeURIComponent(`days ${how}`)}&state=active`);
    const shown = () => page.locator("tbody th").getByRole("link").allTextContents();
    expect(await shown()).toEqual([names[2], names[1], names[0]]);
    const header = page.getByRole("columnheader", { name: dashboard.expiresOrEnded });
    await header.getByRole("link").click();
    await page.waitForURL(/sort=soonest/);
    expect([await header.getAttribute("aria-sort"), await shown()]).toEqual([
      "ascending",
      [names[1], names[2], names[0]],
    ]);
    await header.getByRole("link").click();
    await page.waitForURL(/sort=latest/);
    expect([await header.getAttribute("aria-sort"), await shown()]).toEqual([
      "descending",
      [names[0], names[2], names[1]],
    ]);

    for (const name of names.slice(0, 2))
      await page.getByRole("checkbox", { name: `${dashboard.select} ${name}` }).check();
    await page.getByRole("button", { name: dashboard.deleteSelected }).click();
    await page.getByRole("heading", { name: dashboard.deleteHeading({ count: 2 }) }).waitFor();
    expect(await page.locator(".deletion bdi").allTextContents()).toEqual([names[0], names[1]]);
    await page.getByRole("button", { name: dashboard.deleteConfirm }).click();
    await page.getByText(dashboard.deleted).waitFor();
    expect(await shown()).toEqual([names[2]]);
    expect(new URL(page.url()).search).toContain("sort=latest");
  });
});

/** Presses Tab until the focus is on the element; fails after as many stops as no page has. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  for (let stops = 0; stops < 400; stops += 1) {
    if (await element.evaluate((each) => each === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("Tab never reaches the element.");
}

it("pushes are selected and deleted with only the keyboard", async () => {
  const { page } = await site.visit({ signedIn: true });
  for (const at of [1, 2, 3]) await site.push({ payload: "secret", name: `by key ${at}` }, "owned");
  await page.goto("/p?q=by+key");
  await tabTo(page, page.getByRole("checkbox", { name: dashboard.selectAll }));
  await page.keyboard.press("Space");
  expect(await page.locator("[data-selected-count]").textContent()).toBe("3");
  await tabTo(page, page.getByRole("checkbox", { name: `${dashboard.select} by key 2` }));
  await page.keyboard.press("Space");
  expect(await page.locator("[data-selected-count]").textContent()).toBe("2");
  await tabTo(page, page.getByRole("button", { name: dashboard.deleteSelected }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: dashboard.deleteConfirm }));
  await page.keyboard.press("Enter");
  await page.getByText(dashboard.deleted).waitFor();
  expect(await page.getByText(dashboard.endedByOwner).count()).toBe(2);
  expect(await page.getByText(dashboard.unopened, { exact: true }).count()).toBe(1);
});

it("an opened push is seen within ten seconds, without a reload", async () => {
  const { urlToken } = await site.push({ payload: "secret", name: "watched", expire_after_views: 2 }, "owned");
  const { page } = await site.visit({ signedIn: true });
  await page.clock.install();
  const polls: string[] = [];
  page.on("request", (request) => polls.push(...[request.headers()[pollHeader] ?? []].flat()));
  await page.goto("/p?q=watched");
  const row = page.locator("tbody tr");
  await row.getByText(dashboard.unopened, { exact: true }).waitFor();
  for (const [used, text] of [
    [1, /^Opened /],
    [2, dashboard.endedByViews],
  ] as const) {
    await site.fetch(`/api/v2/pushes/${urlToken}`);
    await page.clock.runFor(10_000);
    await row.getByText(dashboard.viewsOf({ used, allowed: 2 }), { exact: true }).waitFor();
    await row.getByText(text).waitFor();
  }
  expect(polls).toEqual(["1", "1"]);
});

describe("the list of 50 pushes", () => {
  const rowHeights = (page: Page) =>
    page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));

  it("has low rows and few bytes", async () => {
    const { page } = await site.visit({ signedIn: true });
    const long = "averylongnamewithoutaplacetobreak".repeat(10);
    for (let at = 0; at < 50; at += 1) {
      const labels = at % 3 === 0 ? { note: `ticket ${at}` } : {};
      await site.push({ payload: "secret", name: `Server ${at}`, ...labels }, "owned");
    }
    const answer = await page.goto("/p");
    expect(await page.locator("tbody tr").count()).toBe(50);
    expect((await answer?.body())?.length).toBeLessThanOrEqual(60 * 1024);
    await site.push({ payload: "secret", name: long, note: long, passphrase: "words" }, "owned");
    const { urlToken } = await site.push({ payload: "secret", name: long, note: long, expire_after_views: 1 }, "owned");
    await site.fetch(`/api/v2/pushes/${urlToken}`);
    for (const locale of ["en", "de", "ja", "ar"]) {
      for (const [width, heightMax] of [
        [1280, 64],
        [390, 110],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`/p?locale=${locale}`);
        expect([locale, width, Math.max(...(await rowHeights(page))) <= heightMax]).toEqual([locale, width, true]);
      }
    }
  });

  it("begins within 440 px on a phone", async () => {
    const { page } = await site.visit({ signedIn: true, viewport: { width: 390, height: 844 } });
    await site.push({ payload: "secret" }, "owned");
    for (const locale of ["en", "de", "es", "fr", "pt-BR", "ja", "ar"]) {
      await page.goto(`/p?locale=${locale}`);
      expect([locale, ((await page.locator("tbody tr").first().boundingBox())?.y ?? 999) <= 440]).toEqual([
        locale,
        true,
      ]);
    }
  });

  it("does not scroll sideways at 360 pixels with text of 200 %", async () => {
    const { page } = await site.visit({ signedIn: true });
    await site.push(
      { payload: "secret", name: "averylongnamewithoutaplacetobreak".repeat(4), passphrase: "p" },
      "owned",
    );
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto("/p");
    await page.locator("tbody input").first().check();
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    expect(await page.evaluate("document.scrollingElement.scrollWidth")).toBe(360);
  });
});

describe("the page of the audit trail", () => {
  it("shows what the browser sent behind a disclosure, and does not scroll sideways at 360 pixels with text of 200 %", async () => {
    const { page } = await site.visit({ signedIn: true, javaScriptEnabled: true });
    const files = [{ filename: "plan.pdf", content_type: "application/pdf", data: "YQ==" }];
    const { urlToken } = await site.push({ payload: "secret", files, note: "for Jo", passphrase: "p" }, "owned");
    const headers = { "user-agent": `Own/1.0 ${"x".repeat(200)}`, referer: "https://mail.example.com/inbox?id=1" };
    await site.fetch(`/api/v2/pushes/${urlToken}?passphrase=p`, { headers });
    await page.goto(`/p/${urlToken}/audit`);
    for (const text of ["for Jo", "plan.pdf"]) expect(await page.getByText(text).isVisible()).toBe(true);
    const whole = page.getByText(headers.referer, { exact: true });
    expect(await whole.isVisible()).toBe(false);
    const disclosure = page.locator("summary").filter({ hasText: dashboard.technical }).first();
    await disclosure.focus();
    await page.keyboard.press("Enter");
    expect(await whole.isVisible()).toBe(true);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    expect(await page.evaluate("document.scrollingElement.scrollWidth")).toBe(360);
  });
});

describe("copying a link from the dashboard", () => {
  it("copies the link that is handed out", async () => {
    const { page, context } = await site.visit({ signedIn: true });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const { path } = await site.push({ payload: "secret", name: "to copy", retrieval_step: true }, "owned");
    await page.goto("/p");
    const row = rowOf(page, "to copy");
    await copyBy(page, () => row.getByRole("link", { name: dashboard.copyLink }).click());
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${site.baseUrl}${path}`);
    expect(new URL(page.url()).pathname).toBe("/p");
  });

  it("without scripts opens the page of the link", async () => {
    const { page } = await site.visit({ signedIn: true, javaScriptEnabled: false });
    const { urlToken } = await site.push({ payload: "secret", name: "to show" }, "owned");
    await page.goto("/p");
    await rowOf(page, "to show").getByRole("link", { name: dashboard.copyLink }).click();
    await page.waitForURL(`**/p/${urlToken}/preview`);
  });
});

it("relative times are updated while the page is open", async () => {
  const { page } = await site.visit({ signedIn: true });
  const { urlToken } = await site.push({ payload: "secret" }, "owned");
  await page.clock.install();
  await page.goto(`/p/${urlToken}/audit`);
  const made = page.locator(".timeline time[data-relative-time]").first();
  expect(await made.textContent()).toBe("now");
  await page.clock.runFor(5 * 60_000);
  expect(await made.textContent()).toBe("5 minutes ago");
});

it("starts another push like one of the list that has ended", async () => {
  const { page } = await site.visit({ signedIn: true });
  const { urlToken } = await site.push({ payload: "secret", name: "ended one", expire_after_views: 1 }, "owned");
  await site.fetch(`/api/v2/pushes/${urlToken}`);
  await page.goto("/p");
  await rowOf(page, "ended one")
    .getByRole("link", { name: `${created.anotherLike} ended one` })
    .click();
  await page.waitForURL(/another$/);
  expect(await page.locator("#push_expire_after_views").inputValue()).toBe("1");
  expect(await page.locator("#push_name").inputValue()).toBe("");
});
