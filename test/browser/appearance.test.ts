import { expect, test } from "vitest";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite({
  PWP__THEME_MODE: "dark",
  PWP__BRAND__TAGLINE: "Handed over once",
  PWP__BRAND__ABOUT: `# Run by IT\n\nAsk [the desk](/help/api).\n\n### Rules\n\n- ${"unbroken".repeat(20)}\n\n> quoted\n\n    ${"code".repeat(60)}`,
  PWP__BRAND__DARK_LOGO: "https://static.example.com/logo.svg",
});

test("the logo of the settings is loaded, an image of another origin is not, and the colours are dark in any browser", async () => {
  const { page } = await site.visit({ expectedErrors: /^asked https:|^console: .*img-src/ });
  await page.emulateMedia({ colorScheme: "light" });
  await page.route(/^https:/, (route) =>
    route.fulfill({
      contentType: "image/svg+xml",
      body: '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"/>',
    }),
  );
  await page.goto("/");
  const logo = page.locator(".brand-logo");
  await expect.poll(() => logo.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(40);
  expect(await page.locator("body").evaluate((body) => getComputedStyle(body).backgroundColor)).toBe("rgb(15, 21, 20)");
  expect(await page.locator(".wordmark-tagline").textContent()).toBe("Handed over once");
  const refused = await page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
        new Image().src = "https://other.example.com/logo.svg";
      }),
  );
  expect(refused).toBe("img-src");
});

test("the operator's About page fits every screen, and its links work", async () => {
  const { page } = await site.visit({ expectedErrors: /^asked https:|^console: / });
  await page.route(/^https:/, (route) => route.fulfill({ contentType: "image/svg+xml", body: "<svg/>" }));
  await page.goto("/");
  await page.getByRole("link", { name: "About" }).click();
  await page.getByRole("heading", { level: 2, name: "Run by IT" }).waitFor();
  await expectAccessibleLayout(page);
  await page.getByRole("link", { name: "the desk" }).click();
  await page.waitForURL("**/help/api");
});
