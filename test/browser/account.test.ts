import { expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { newPushForm } from "../support/browser-forms.ts";
import { contentOf } from "../support/shared-browser.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

const site = openSite();
const { profile } = en;

it.each([true, false])("a user changes defaults, language and sessions (scripts: %s)", async (javaScriptEnabled) => {
  const { page } = await site.visit({ signedIn: true, javaScriptEnabled });
  const other = await site.visit({ signedIn: true, javaScriptEnabled });
  const openTab = async (tab: keyof typeof profile.tabs) => {
    await page.goto("/users/edit");
    const tabs = page.getByRole("navigation", { name: profile.contents });
    await tabs.getByRole("link", { name: profile.tabs[tab] }).click();
    await tabs.locator("[aria-current=page]", { hasText: profile.tabs[tab] }).waitFor();
  };
  await openTab("defaults");
  await page
    .locator(".account-kind", { has: page.locator("#text_days") })
    .locator("summary")
    .click();
  await page.locator("#text_days").fill("3");
  await page.locator("#text_retrieval_step").selectOption("1");
  await page.getByRole("button", { name: profile.defaults.submit }).click();
  await page.getByText(profile.saved.defaults).waitFor();
  await page.goto("/");
  const form = newPushForm(page);
  expect(await form.expiry.inputValue()).toBe("8");
  expect(await form.retrievalStep.isChecked()).toBe(true);

  await openTab("sessions");
  await page.getByRole("button", { name: profile.sessions.others }).click();
  await page.getByText(profile.saved.sessions).waitFor();
  await other.page.goto("/users/edit");
  expect(new URL(other.page.url()).pathname).toBe("/users/sign_in");

  await openTab("general");
  await page.locator("#language").selectOption("de");
  await page.getByRole("button", { name: profile.language.submit }).click();
  await page.locator("html[lang=de]").waitFor();
  await page.locator("#language").selectOption("");
  await page.locator("#language_section button").click();
  await page.locator("html[lang=en]").waitFor();
});

it("a user downloads their data as a file", async () => {
  await site.push({ payload: "secret", name: "printer" }, "owned");
  const { page } = await site.visit({ signedIn: true, acceptDownloads: true });
  await page.goto("/users/edit?tab=data");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: profile.data.download }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("sealpush-data.json");
  const data = JSON.parse((await contentOf(download)).toString());
  expect(data).toMatchObject({ account: { email }, pushes: [{ name: "printer" }] });
});

it("without scripts a user corrects a refused password change, then deletes the account", async () => {
  const { urlToken } = await site.push({ payload: "secret" }, "owned");
  const { page } = await site.visit({ signedIn: true, javaScriptEnabled: false });
  const changed = "marble-otter-lantern";
  const change = async (current: string) => {
    await page.locator("#current_password").fill(current);
    await page.locator("#new_password").fill(changed);
    await page.locator("#password_section button[type=submit]").click();
  };
  await page.goto("/users/edit?tab=access");
  await change("not the password");
  await page.locator("#current_password_problem").waitFor();
  expect(await page.locator("#new_password").inputValue()).toBe("");
  await change(password);
  await page.getByText(profile.saved.password).waitFor();

  const confirm = async (typed: string) => {
    await page.locator("#delete_password").fill(typed);
    await page.getByRole("button", { name: profile.delete.submit }).click();
  };
  await page.goto("/users/edit?tab=data");
  await page.getByText(profile.delete.open).click();
  await confirm(password);
  await page.locator("#delete_password_problem").waitFor();
  await confirm(changed);
  await page.getByRole("heading", { name: profile.deleted.heading }).waitFor();
  await page.goto(`/p/${urlToken}`);
  await page.getByText(en.gone.heading).waitFor();
});
