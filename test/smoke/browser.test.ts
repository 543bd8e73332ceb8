import { expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, newPushForm, pathOf } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();

test("a secret is handed over once: typed into the form, opened with its link, then gone", async () => {
  const { page } = await site.visit();
  await page.goto("/");
  const form = newPushForm(page);
  await form.payload.fill("hunter2");
  await form.more.click();
  await form.views.fill("1");
  const path = pathOf(await createLink(page));

  const { page: recipient } = await site.visit();
  await recipient.goto(path);
  await recipient.getByRole("button", { name: en.step.open }).click();
  await recipient.getByRole("heading", { name: en.secret.text }).waitFor();
  expect(await recipient.locator("#payload").textContent()).toBe("hunter2");
  await recipient.goto(path);
  expect(await recipient.content()).not.toContain("hunter2");
});

test("a user signs in and finds a push on the dashboard", async () => {
  await site.push({ payload: "secret", name: "for the smoke test" }, "owned");
  const { page } = await site.visit({ signedIn: true });
  await page.goto("/p");
  await page.getByText("for the smoke test").first().waitFor();
});
