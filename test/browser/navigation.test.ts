import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { accountMenu } from "../support/account-menu.ts";
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
    expect(await linkTo(page, nav.pushes).isVisible()).toBe(true);
    expect(await linkTo(page, nav.administration).isVisible()).toBe(false);
    await accountMenu(page).click();
    await linkTo(page, nav.administration).click();
    await page.waitForURL("/admin");
  });

  it("marks the page or the section that is open", async () => {
    const { page } = await site.visit(options);
    const open = async (path: string) => {
      await page.goto(path);
      await accountMenu(page).click();
    };
    await open("/admin");
    expect(await linkTo(page, nav.administration).getAttribute("aria-current")).toBe("page");
    await open("/admin/users?q=ada");
    expect(await linkTo(page, nav.administration).getAttribute("aria-current")).toBe("true");
    expect(await page.locator(".site-header [aria-current]").count()).toBe(1);
    await open("/users/token");
    expect(await linkTo(page, nav.apiTokens).getAttribute("aria-current")).toBe("page");
    expect(await page.locator(".site-header [aria-current]").count()).toBe(1);
  });
});

it("the account menu leads to the password, with the focus in its first field", async () => {
  const { page } = await site.visit({ signedIn: true });
  await page.goto("/");
  await accountMenu(page).click();
  await linkTo(page, en.profile.password.heading).click();
  await page.locator("#current_password:focus").waitFor();
});

it("the account menu closes on Escape, on a click beside it, and when the focus leaves it", async () => {
  const { page } = await site.visit({ signedIn: true });
  await page.goto("/p");
  const menu = accountMenu(page);
  const who = page.locator(".account-menu .site-nav");
  await menu.click();
  await who.waitFor({ state: "visible" });
  await page.keyboard.press("Escape");
  await who.waitFor({ state: "hidden" });
  expect(await menu.evaluate((summary) => summary === document.activeElement)).toBe(true);
  await page.keyboard.press("Enter");
  await who.waitFor({ state: "visible" });
  await page.locator("main h1").click();
  await who.waitFor({ state: "hidden" });
  await menu.click();
  await page.keyboard.press("Shift+Tab");
  await who.waitFor({ state: "hidden" });
});
