import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { nav } = en;

const linkTo = (page: Page, label: string) =>
  page.getByRole("navigation", { name: nav.main }).getByRole("link", { name: label, exact: true });

const headerHeight = async (page: Page) => (await page.locator(".site-header").boundingBox())?.height;

describe.each([
  ["with scripts", { signedIn: "administrator", javaScriptEnabled: true } as const],
  ["without scripts", { signedIn: "administrator", javaScriptEnabled: false } as const],
])("the navigation %s", (_how, options) => {
  it("is one row on a narrow screen, with a menu that the keyboard opens", async () => {
    const { page } = await site.visit(options);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto("/");
    expect(await headerHeight(page)).toBeLessThanOrEqual(76);
    expect(await linkTo(page, nav.pushes).isVisible()).toBe(false);
    await page.locator(".site-menu summary").focus();
    await page.keyboard.press("Enter");
    expect(await headerHeight(page)).toBeLessThanOrEqual(76);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL("/p");
  });

  it("is one row of links on a wide screen", async () => {
    const { page } = await site.visit(options);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto("/");
    expect(await headerHeight(page)).toBeLessThanOrEqual(76);
    expect(await page.getByText(nav.menu, { exact: true }).isVisible()).toBe(false);
    await linkTo(page, nav.administration).click();
    await page.waitForURL("/admin");
  });

  it("marks the page or the section that is open", async () => {
    const { page } = await site.visit(options);
    await page.goto("/admin");
    expect(await linkTo(page, nav.administration).getAttribute("aria-current")).toBe("page");
    await page.goto("/admin/users?q=ada");
    expect(await linkTo(page, nav.administration).getAttribute("aria-current")).toBe("true");
    expect(await page.locator(".site-header [aria-current]").count()).toBe(1);
    await page.goto("/users/token");
    expect(await linkTo(page, nav.apiTokens).getAttribute("aria-current")).toBe("page");
    expect(await page.locator(".site-header [aria-current]").count()).toBe(1);
  });
});
