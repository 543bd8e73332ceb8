import type { Page } from "playwright-core";

const submit = "main form[method=post] button[type=submit]";

/** Presses the first submit button of the page and waits for the answer. */
export async function sendForm(page: Page): Promise<void> {
  await Promise.all([
    page.waitForResponse((response) => response.request().method() === "POST"),
    page.locator(submit).first().click(),
  ]);
  await page.waitForLoadState();
}
