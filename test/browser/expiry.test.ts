import type { Page } from "playwright-core";
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

/** A wall clock ten days ahead, as the control of the form takes it, and its instant where clocks are an hour ahead of UTC. */
function inTenDays(offset: string) {
  const wallClock = new Date(Date.now() + 10 * dayMs).toISOString().slice(0, 16);
  return { wallClock, instant: new Date(`${wallClock}${offset}`).toISOString() };
}

async function endOf(link: string): Promise<string> {
  const { expires_at } = await (await site.fetch(`/api/v2/pushes/${urlTokenOf(link)}`)).json();
  return new Date(expires_at).toISOString();
}

const exactEnd = (page: Page) => ({
  at: page.getByLabel(en.newPush.expiresAt, { exact: true }),
  zone: page.getByLabel(en.newPush.timeZone, { exact: true }),
});

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("the expiry of a new push %s", (_how, options) => {
  it("is chosen from 15 minutes to 90 days in one control, or is any number of days", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    const { expiry, payload } = newPushForm(page);
    const times = await expiry.locator("option").allTextContents();
    expect(times).toHaveLength(20);
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

it("ends at a date and time in the sender's time zone", async () => {
  // Always five and a half hours ahead of UTC.
  const { page } = await site.visit({ timezoneId: "Asia/Kolkata" });
  await page.goto("/");
  const { expiry, payload } = newPushForm(page);
  const { at, zone } = exactEnd(page);
  expect(await at.isVisible()).toBe(false);
  await payload.fill("secret");
  await expiry.selectOption({ label: en.newPush.exactEnd });
  expect(await zone.inputValue()).toMatch(/^Asia\/(Kolkata|Calcutta)$/);
  const { wallClock, instant } = inTenDays("+05:30");
  await at.fill(wallClock);
  const link = await createLink(page);
  expect(await endOf(link)).toBe(instant);
  expect(await page.locator(`time[datetime="${instant}"]`).count()).toBeGreaterThan(0);
});

it("keeps what was typed where the end is too near, and a date that is no longer chosen does not count", async () => {
  const { page } = await site.visit({ timezoneId: "Asia/Kolkata" });
  await page.goto("/");
  const { expiry, payload, submit } = newPushForm(page);
  const { at, zone } = exactEnd(page);
  await payload.fill("secret");
  await expiry.selectOption({ label: en.newPush.exactEnd });
  await at.fill("2020-01-01T10:00");
  await submit.click();
  await page.getByText(en.problems.heading).first().waitFor();
  expect(await page.locator("#push_expires_at_problem").textContent()).toBe(
    en.problems.expiresAt({ time: en.formats.timeSpan(90 * 24 * 60) }),
  );
  expect([await at.inputValue(), await zone.isVisible()]).toEqual(["2020-01-01T10:00", true]);
  await expiry.selectOption({ label: "1 hour" });
  expect(await lifetimeOf(await createLink(page))).toBe(60 * minuteMs);
});

it("ends at a date and time without scripts: in UTC, or in the zone that is named", async () => {
  const { page } = await site.visit({ javaScriptEnabled: false, timezoneId: "Asia/Kolkata" });
  for (const [named, offset] of [
    ["", "Z"],
    ["Asia/Kolkata", "+05:30"],
  ] as const) {
    await page.goto("/");
    const { at, zone } = exactEnd(page);
    await newPushForm(page).payload.fill("secret");
    const { wallClock, instant } = inTenDays(offset);
    await at.fill(wallClock);
    await zone.fill("Atlantis");
    await newPushForm(page).submit.click();
    expect(await page.locator("#push_time_zone_problem").textContent()).toBe(en.problems.timeZone);
    await newPushForm(page).payload.fill("secret");
    await zone.fill(named);
    expect(await endOf(await createLink(page))).toBe(instant);
  }
});
