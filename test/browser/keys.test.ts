import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { keys, nav } = en;
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim());

describe("the keys of people who are signed in", () => {
  it("move in a list, open a row and focus the search", async () => {
    for (const name of ["first", "second", "third"]) await site.push({ payload: "x", name }, "owned");
    const { page } = await site.visit({ signedIn: true });
    await page.goto("/p");
    for (const [key, name] of [
      ["j", "third"],
      ["j", "second"],
      ["j", "first"],
      ["k", "second"],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused(page)).toContain(name);
    }
    await page.keyboard.press("/");
    await page.keyboard.type("jkn?");
    expect(await page.locator('main input[type="search"]').inputValue()).toBe("jkn?");
    await page.goto("/p");
    await page.keyboard.press("j");
    const target = await page.evaluate(() => document.activeElement?.getAttribute("href"));
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${target}`);
  });

  it("open a new push, where they are typed", async () => {
    const { page } = await site.visit({ signedIn: true });
    await page.goto("/requests");
    await page.keyboard.press("n");
    await page.waitForURL((url) => url.pathname === "/");
    await page.locator("#push_payload").focus();
    await page.keyboard.type("n/?jk");
    await page.keyboard.press("Control+K");
    expect(await page.locator("#push_payload").inputValue()).toBe("n/?jk");
    await page.locator("dialog").waitFor({ state: "detached" });
  });

  it("show their list, and a menu of pages", async () => {
    const { page } = await site.visit({ signedIn: true, reducedMotion: "reduce" });
    await page.goto("/requests");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: keys.heading }).getByText(keys.rows).waitFor();
    await expectAccessibleLayout(page);
    await page.keyboard.press("n");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+K");
    await page.getByRole("dialog", { name: keys.pages }).waitFor();
    await expectAccessibleLayout(page);
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toBe(nav.pushes);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/p");
  });

  it("are those of a Mac on a Mac, and shown so", async () => {
    const { page } = await site.visit({ signedIn: true, reducedMotion: "reduce" });
    await page.addInitScript("Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' })");
    await page.goto("/");
    expect((await page.locator(".key-hint").textContent())?.trim()).toBe("⌘ ↵");
    await page.goto("/requests");
    await page.keyboard.press("Control+K");
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: keys.heading });
    await list.waitFor();
    expect(await page.locator("dialog").count()).toBe(1);
    expect(await list.locator("kbd").allTextContents()).toEqual(["/", "j", "k", "Enter", "n", "⌘", "K", "?"]);
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    await page.keyboard.press("Meta+K");
    await page.getByRole("dialog", { name: keys.pages }).waitFor();
  });

  it("are listed by a button of the account's menu, where the focus comes back to", async () => {
    const { page } = await site.visit({ signedIn: true });
    await page.goto("/requests");
    await page.locator(".account-menu > summary").press("Enter");
    await page.locator("[data-shows-keys]").press("Enter");
    await page.getByRole("dialog", { name: keys.heading }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(await page.locator(".account-menu > summary:focus").count()).toBe(1);
  });

  it("do nothing for others", async () => {
    const { page } = await site.visit();
    await page.goto("/users/sign_in");
    await page.locator("main").focus();
    await page.keyboard.press("?");
    expect(await page.locator("dialog, template[data-keys]").count()).toBe(0);
  });
});
