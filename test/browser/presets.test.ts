import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, newPushForm, urlTokenOf } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { presets, newPush, admin } = en;
let made = 0;

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("a preset %s", (_how, options) => {
  it("is made on a page and used in the form, which keeps what was typed", async () => {
    const { page } = await site.visit({ ...options, signedIn: true });
    made += 1;
    const name = `Short ${made}`;
    await page.goto("/users/edit/presets");
    await page.getByLabel(presets.name, { exact: true }).fill(name);
    await page.getByLabel(newPush.views).fill("2");
    await page.getByLabel(newPush.expiry).selectOption("15");
    await page.getByLabel(newPush.retrievalStep).selectOption("1");
    await page.getByLabel(presets.fields, { exact: true }).fill("User\nPassword:secret");
    await page.getByRole("button", { name: admin.save }).click();
    await page.getByRole("rowheader", { name }).waitFor();

    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("typed text");
    await form.passphrase.fill("typed phrase");
    await page.getByLabel(presets.choose, { exact: true }).selectOption(name);
    if (!options.javaScriptEnabled) {
      await page.getByRole("button", { name: presets.use }).click();
      await page.waitForURL(/\/p$/);
      // Locators do not find text inside `noscript`.
      const hints = await page.locator("noscript .field-hint").allInnerTexts();
      expect(hints).toContain(presets.asks({ labels: "User, Password" }));
      expect(await form.payload.inputValue()).toBe("typed text");
    } else {
      const labels = page.locator("[data-label]");
      await labels.nth(1).waitFor();
      expect(await labels.evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value))).toEqual([
        "User",
        "Password",
      ]);
      await page.locator("[data-value]").first().fill("ada");
    }
    expect([await form.views.inputValue(), await form.expiry.inputValue()]).toEqual(["2", "0"]);
    expect(await form.passphrase.inputValue()).toBe("typed phrase");
    const urlToken = urlTokenOf(await createLink(page));
    expect(await site.ownPush(urlToken)).toMatchObject({ expire_after_views: 2, retrieval_step: true });
    const opened = await (await site.fetch(`/api/v2/pushes/${urlToken}?passphrase=typed%20phrase`)).json();
    expect(opened.payload).toBe(options.javaScriptEnabled ? "User: ada" : "typed text");
  });
});
