import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { openSite } from "../support/site.ts";

const site = openSite({ PWP__FILES__ALLOW_ANONYMOUS: "true" });

const phone = { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true } as const;

/** Buttons, menus and choices outside of tables, but not links within sentences, or boxes, whose label is part of them. */
const controls = [
  "header :is(nav a, summary, button)",
  "main :is(button, select, summary, a.button, .segments a):not(table *, .visually-hidden)",
].join();

/** What is lower than 44 px. */
async function tooLow(page: Page): Promise<readonly string[]> {
  return await page
    .locator(controls)
    .filter({ visible: true })
    .evaluateAll((found) =>
      found
        .map((control) => ({ name: control.textContent.trim(), height: control.getBoundingClientRect().height }))
        .filter(({ height }) => height < 44)
        .map(({ name, height }) => `${name}: ${height}`),
    );
}

it("what is touched without an account is at least 44 px high", async () => {
  const { page } = await site.visit(phone);
  for (const path of ["/", "/?kind=file", "/users/sign_in", "/users/sign_up"]) {
    await page.goto(path);
    expect([path, await tooLow(page)]).toEqual([path, []]);
  }
});

it("what is touched with an account is at least 44 px high", async () => {
  const { page } = await site.visit({ ...phone, signedIn: true });
  for (const path of ["/", "/p", "/requests/new", "/users/edit", "/users/token"]) {
    await page.goto(path);
    for (const menu of await page.locator("header summary").all()) {
      await menu.click();
      expect([path, await tooLow(page)]).toEqual([path, []]);
    }
  }
});

it("what is touched while a secret is opened is at least 44 px high", async () => {
  const { path, urlToken } = await site.push({ payload: "secret", deletable_by_viewer: true });
  const { page } = await site.visit(phone);
  await page.goto(`/p/${urlToken}/preview`);
  expect(await tooLow(page)).toEqual([]);
  await page.goto(path);
  expect(await tooLow(page)).toEqual([]);
  await page.locator("main form button").first().click();
  await page.locator("[data-veil] > summary").click();
  await page.locator(".secret-menu > summary").click();
  expect(await tooLow(page)).toEqual([]);
});

it("the actions on a push in the list are 44 px squares", async () => {
  await site.push({ payload: "secret" }, "owned");
  const { page } = await site.visit({ ...phone, signedIn: true });
  await page.goto("/p");
  const sizes = await page
    .locator("tbody td:last-child > *")
    .evaluateAll((found) =>
      found.map((action) => action.getBoundingClientRect()).map(({ width, height }) => [width, height]),
    );
  expect(sizes).toEqual([
    [44, 44],
    [44, 44],
    [44, 44],
  ]);
});
