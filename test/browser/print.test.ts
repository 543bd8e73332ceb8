import { expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { sendForm } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { secret } = en;

it("a secret is printed where it is shown; where it is hidden, the sheet says so", async () => {
  const { page } = await site.visit();
  await page.goto((await site.push({ payload: "quartz lantern" })).path);
  await sendForm(page);
  const content = page.getByText("quartz lantern", { exact: true });
  const reveal = page.getByText(secret.reveal, { exact: true });
  await reveal.waitFor();
  await page.emulateMedia({ media: "print" });
  expect([await content.isVisible(), await reveal.isVisible()]).toEqual([false, true]);

  await page.emulateMedia({ media: "screen" });
  await reveal.click();
  await page.emulateMedia({ media: "print" });
  expect(await content.isVisible()).toBe(true);
  expect(await page.getByText(secret.conceal, { exact: true }).isVisible()).toBe(false);
});

it("an audit trail is printed without its controls", async () => {
  const { page } = await site.visit({ signedIn: true });
  const { urlToken } = await site.push({ payload: "secret", name: "Router" }, "owned");
  await page.goto(`/p/${urlToken}/audit`);
  await page.emulateMedia({ media: "print" });
  expect(await page.getByRole("heading", { name: "Router" }).isVisible()).toBe(true);
  for (const control of await page.locator(".row-actions :is(a, button, summary), .as-sent").all()) {
    expect(await control.isVisible()).toBe(false);
  }
});
