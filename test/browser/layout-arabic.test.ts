import { describe, expect, it } from "vitest";
import { findMessages } from "../../src/i18n/i18n.ts";
import { testLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite();

describe("layout and accessibility in Arabic", () => testLayout(site, "ar"));

it("texts of people that begin from the left are aligned with the page, and isolated", async () => {
  const messages = findMessages("ar");
  const { page } = await site.visit({ locale: "ar", signedIn: true });
  await page.goto("/requests/new");
  await page.getByLabel(messages?.requests.title ?? "", { exact: true }).fill("Password, root (db-3).");
  await page.getByLabel(messages?.requests.note ?? "", { exact: true }).fill("For Grace.\nUntil noon.");
  await page.getByRole("button", { name: messages?.requests.submit ?? "" }).click();
  await page.waitForURL(/\/answers/);
  const link = await page.locator("#link").inputValue();
  for (const address of [page.url(), link]) {
    await page.goto(address);
    for (const selector of ["h1", ".whole-note"]) {
      const text = await page.locator(`${selector} > bdi`).boundingBox();
      const block = await page.locator(selector).boundingBox();
      expect((text?.x ?? 0) + (text?.width ?? 0)).toBeCloseTo((block?.x ?? 0) + (block?.width ?? 0), 0);
    }
  }
});

it("placeholders begin from the right, with and without an account", async () => {
  for (const signedIn of [{}, { signedIn: true }] as const) {
    const { page } = await site.visit({ locale: "ar", ...signedIn });
    const paths = { "/?kind=qr": "#push_payload", ...(signedIn.signedIn && { "/p?q=none": "#q" }) };
    for (const [path, field] of Object.entries(paths)) {
      await page.goto(path);
      await page.locator(field).fill("");
      expect(await page.locator(field).evaluate((input) => getComputedStyle(input).direction)).toBe("rtl");
      await page.locator(field).fill("from the left");
      expect(await page.locator(field).evaluate((input) => getComputedStyle(input).direction)).toBe("ltr");
    }
  }
});
