import { expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { expectAccessibleLayout, overflowing } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite({
  PWP__THEME_MODE: "dark",
  PWP__BRAND__TAGLINE: "Handed over once",
  PWP__BRAND__ABOUT: `# Run by IT\n\nAsk [the desk](/help/api).\n\n### Rules\n\n- ${"unbroken".repeat(20)}\n\n> quoted\n\n    ${"code".repeat(60)}`,
  PWP__BRAND__DARK_LOGO: "https://static.example.com/logo.svg",
  PWP__REQUESTS__ALLOW_ANONYMOUS: "true",
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

test("a wide logo fits 320 px with text of twice the size, on each page of a recipient", async () => {
  const expectedErrors = /^asked https:|^console: /;
  const owner = await site.visit({ signedIn: true, expectedErrors });
  await owner.page.goto("/requests/new");
  await owner.page.getByLabel(en.requests.title, { exact: true }).fill("Root password");
  await owner.page.getByRole("button", { name: en.requests.submit }).click();
  await owner.page.waitForURL(/\/answers/);
  const request = await owner.page.locator("#link").inputValue();
  const { path } = await site.push({ payload: "secret", sender_shown: true }, "owned");

  const { page } = await site.visit({ viewport: { width: 320, height: 700 }, expectedErrors });
  await page.route(/^https:/, (route) =>
    route.fulfill({
      contentType: "image/svg+xml",
      body: '<svg xmlns="http://www.w3.org/2000/svg" width="2400" height="100"><rect width="2400" height="100"/></svg>',
    }),
  );
  const expectLogoFits = async () => {
    const logo = page.locator(".brand-logo").first();
    await expect.poll(() => logo.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(2400);
    for (const fontSize of ["", "200%"]) {
      await page.evaluate((size) => (document.documentElement.style.fontSize = size), fontSize);
      expect({ url: page.url(), fontSize, overflowing: await overflowing(page) }).toMatchObject({ overflowing: [] });
      const box = await logo.boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(320);
      expect(box?.height).toBeGreaterThan(4);
    }
  };
  await page.goto(path);
  await expectLogoFits();
  await page.getByRole("button", { name: en.step.open }).click();
  await page.locator("#payload").waitFor({ state: "attached" });
  await expectLogoFits();
  await page.goto(request);
  await expectLogoFits();
  await page.getByLabel(en.requests.text, { exact: true }).fill("secret");
  await page.getByRole("button", { name: en.requests.send }).click();
  await page.getByRole("heading", { name: en.requests.sentHeading }).waitFor();
  await expectLogoFits();
});
