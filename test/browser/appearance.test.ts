import { expect, test } from "vitest";
import { openSite } from "../support/site.ts";

const site = openSite({
  PWP__THEME_MODE: "dark",
  PWP__BRAND__TAGLINE: "Handed over once",
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
