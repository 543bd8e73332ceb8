import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, fillDays, newPushForm, urlTokenOf } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

async function lifetimeOf(link: string) {
  const { created_at, expires_at } = await (await site.fetch(`/api/v2/pushes/${urlTokenOf(link)}`)).json();
  return Date.parse(expires_at) - Date.parse(created_at);
}

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("the expiry of a new push %s", (_how, options) => {
  it("is chosen from 15 minutes to 90 days in one control, or is any number of days", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    const { expiry, payload } = newPushForm(page);
    const times = await expiry.locator("option").allTextContents();
    expect(times).toHaveLength(19);
    expect([times[0], times[4], times[12], times[17]]).toEqual(["15 minutes", "6 hours", "1 week", "90 days"]);
    expect(await expiry.locator("option:checked").textContent()).toBe("1 week");

    for (const [choose, lifetimeMs] of [
      [() => expiry.selectOption({ label: "15 minutes" }), 15 * minuteMs],
      [() => expiry.selectOption({ label: "90 days" }), 90 * dayMs],
      [() => fillDays(page, "10"), 10 * dayMs],
    ] as const) {
      await page.goto("/");
      await payload.fill("secret");
      await choose();
      expect(await lifetimeOf(await createLink(page))).toBe(lifetimeMs);
    }
  });
});

it("a number of days is asked for only where it is chosen, and a wrong one that is not used does not hinder", async () => {
  const { page } = await site.visit();
  await page.goto("/");
  const { days, expiry, payload } = newPushForm(page);
  expect(await days.isVisible()).toBe(false);
  await payload.fill("secret");
  await fillDays(page, "91");
  await expiry.selectOption({ label: "1 hour" });
  expect(await days.isVisible()).toBe(false);
  expect(await lifetimeOf(await createLink(page))).toBe(60 * minuteMs);
});

it("the headline promises nothing that the default of the views does not keep", async () => {
  const { page } = await site.visit();
  await page.goto("/");
  expect(await newPushForm(page).views.inputValue()).toBe("5");
  const { heading, lead } = en.newPush;
  expect(`${heading} ${lead}`).not.toMatch(/\bonce\b/i);
});
