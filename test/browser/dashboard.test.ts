import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { dashboard } = en;

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

    await row.getByText(dashboard.expire, { exact: true }).click();
    await row.getByRole("button", { name: dashboard.expireConfirm }).click();
    await page.getByText(dashboard.nothingHeading).waitFor();
    expect(new URL(page.url()).search).toContain("state=active");
    expect(await site.ownPush(urlToken)).toMatchObject({ deleted: true });

    await page.getByRole("link", { name: dashboard.ended, exact: true }).click();
    await row.getByText(dashboard.endedByOwner).waitFor();
    await row.getByRole("link", { name: dashboard.actionOn({ action: dashboard.audit, name }) }).click();
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

describe("copying a link from the dashboard", () => {
  it("copies the link that is handed out", async () => {
    const { page, context } = await site.visit({ signedIn: true });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const { path } = await site.push({ payload: "secret", name: "to copy", retrieval_step: true }, "owned");
    await page.goto("/p");
    const row = rowOf(page, "to copy");
    await row.getByText(dashboard.copyLink).click();
    await row.getByRole("status").filter({ hasText: en.actions.copied }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${site.baseUrl}${path}`);
    expect(new URL(page.url()).pathname).toBe("/p");
  });

  it("without scripts opens the page of the link", async () => {
    const { page } = await site.visit({ signedIn: true, javaScriptEnabled: false });
    const { urlToken } = await site.push({ payload: "secret", name: "to show" }, "owned");
    await page.goto("/p");
    await rowOf(page, "to show").getByText(dashboard.copyLink).click();
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
