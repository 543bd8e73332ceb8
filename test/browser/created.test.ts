import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, newPushForm, pathOf, urlTokenOf } from "../support/browser-forms.ts";
import { messagesIn } from "../support/messages.ts";
import { modulesOf, modulesSeen } from "../support/qr-pixels.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const ar = messagesIn("ar");
const { created } = en;

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("the page of a new link %s", (_how, options) => {
  it("shows the limits of the push, and counts no view", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("secret");
    await form.views.fill("2");
    await form.passphrase.fill("open sesame");
    const link = await createLink(page);

    const facts = page.getByRole("region", { name: created.next });
    for (const fact of [created.opens({ count: 2 }), created.step, created.passphrase, created.deletable]) {
      expect(await facts.getByText(fact).isVisible()).toBe(true);
    }
    const message = await page.getByLabel(created.message).inputValue();
    expect(message.split("\n")).toContain(link);
    expect(message).toContain(created.messagePassphrase);
    expect(message).not.toContain("sesame");

    await page.reload();
    await page.goto(pathOf(link));
    expect(await page.getByText(en.step.viewsLeft({ count: 2 })).isVisible()).toBe(true);
  });

  it("shows the link as a QR code that a camera can read", async () => {
    const { page, context } = await site.visit({ ...options, colorScheme: "dark" });
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const link = await createLink(page);
    const expected = modulesOf(link);
    expect(await modulesSeen(page.getByRole("img", { name: created.qr }), expected.length, context)).toEqual(expected);
  });

  it("writes link and message in the recipient's language", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const plain = await createLink(page);
    await page.getByLabel(created.recipientLanguage).selectOption("ar");
    await page.getByRole("button", { name: created.apply }).click();
    await page.waitForURL(/recipient=ar/);

    const link = await page.getByLabel(created.link, { exact: true }).inputValue();
    expect(link).toBe(`${plain}?locale=ar`);
    const message = page.getByLabel(created.message);
    expect(await message.inputValue()).toContain(`${ar.created.messageIntro}\n\n${link}\n\n`);
    expect(await message.getAttribute("dir")).toBe("rtl");
    await page.goto(pathOf(link));
    await page.getByRole("heading", { name: ar.step.heading }).waitFor();
    await page.getByRole("button", { name: ar.step.open }).click();
    await page.getByRole("heading", { name: ar.secret.text }).waitFor();
  });

  it("prints the link and leaves the buttons out", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const link = await createLink(page);
    await page.emulateMedia({ media: "print" });
    expect(await page.locator(".link-printed").getByText(link).isVisible()).toBe(true);
    expect(await page.getByRole("img", { name: created.qr }).isVisible()).toBe(true);
    for (const hidden of [page.getByRole("button"), page.getByRole("navigation"), page.getByRole("combobox")]) {
      for (const element of await hidden.all()) expect(await element.isVisible()).toBe(false);
    }
  });

  it("links to the form for another push", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    await createLink(page);
    await page.getByRole("link", { name: created.another }).click();
    await page.waitForURL("/");
    expect(await newPushForm(page).payload.inputValue()).toBe("");
  });

  it("deletes the push after a confirmation", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const link = await createLink(page);
    await page.locator("summary").filter({ hasText: created.delete }).click();
    await page.getByRole("button", { name: en.secret.deleteConfirm }).click();
    await page.getByRole("heading", { name: en.deleted.heading }).waitFor();
    expect((await page.goto(pathOf(link)))?.status()).toBe(404);
    expect((await page.goto(`/p/${urlTokenOf(link)}/preview`))?.status()).toBe(404);
  });
});

describe("the scripts of the page of a new link", () => {
  it("copy link and message, and say so", async () => {
    const { page, context } = await site.visit();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const link = await createLink(page);
    for (const [button, expected] of [
      [created.copyLink, link],
      [created.copyMessage, await page.getByLabel(created.message).inputValue()],
    ] as const) {
      await page.getByRole("button", { name: button }).click();
      await page.getByRole("status").filter({ hasText: en.actions.copied }).first().waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(expected);
    }
  });

  it("print on request", async () => {
    const { page, context } = await site.visit();
    await context.addInitScript("window.print = () => { window.printed = true; }");
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    await createLink(page);
    await page.getByRole("button", { name: created.print }).click();
    expect(await page.evaluate("window.printed")).toBe(true);
  });

  it("write dates in the format of the browser's locale, with and without the script", async () => {
    for (const [locale, date] of [
      ["en-GB", /\d{1,2} \p{L}+ \d{4}/u],
      ["en-US", /\p{L}+ \d{1,2}, \d{4}/u],
    ] as const) {
      const { page } = await site.visit({ locale });
      await page.goto("/");
      await newPushForm(page).payload.fill("secret");
      await createLink(page);
      expect(await page.getByRole("region", { name: created.next }).getByRole("time").textContent()).toMatch(date);
      expect(await page.getByLabel(created.message).inputValue()).toMatch(date);
    }
  });

  it("write times in the browser's time zone", async () => {
    const { page } = await site.visit({ timezoneId: "Asia/Tokyo" });
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    await createLink(page);
    const time = page.getByRole("region", { name: created.next }).getByRole("time");
    expect(await time.textContent()).toContain("GMT+9");
    expect(await time.getAttribute("title")).toContain("UTC");
  });
});
