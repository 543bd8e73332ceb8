import { expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { openSite } from "../support/site.ts";

const site = openSite({ PWP__THROTTLING__SECOND: "5" });

it("a page that was refused for too many requests can be loaded again, with what is behind #", async () => {
  const { page } = await site.visit();
  const again = page.getByRole("button", { name: en.failure.again });
  for (let attempt = 0; attempt === 0 || !(await again.isVisible()); attempt += 1) {
    await Promise.all(Array.from({ length: 10 }, () => site.fetch("/about")));
    await page.goto(`/about?attempt=${attempt}#key`);
  }
  while (await again.isVisible()) await Promise.all([page.waitForEvent("load"), again.click()]);
  await page.getByRole("heading", { name: en.about.title, exact: true }).waitFor();
  expect(new URL(page.url()).hash).toBe("#key");
});
