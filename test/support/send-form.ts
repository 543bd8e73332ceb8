import type { Page } from "playwright-core";

const submit = "main form[method=post] button[type=submit]";

/** Presses the first button that sends a form of the page, and waits for what comes back. */
export async function sendForm(page: Page): Promise<void> {
  await Promise.all([
    page.waitForResponse((response) => response.request().method() === "POST"),
    page.locator(submit).first().click(),
  ]);
  await page.waitForLoadState();
}
