import type { Locator, Page } from "playwright-core";
import { en } from "../../src/i18n/i18n.ts";

/** The button of the menu, whose title says who is signed in. */
export function accountMenu(page: Page): Locator {
  return page.locator(".account-menu > summary");
}

export async function signOutByMenu(page: Page): Promise<void> {
  await accountMenu(page).click();
  await page.locator(".account-menu").getByRole("button", { name: en.nav.signOut }).click();
}
