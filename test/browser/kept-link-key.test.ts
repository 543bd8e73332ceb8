import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy, newPushForm, unfold } from "../support/browser-forms.ts";
import { sealingPages } from "../support/sealing-pages.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { created, endToEnd } = en;
const { openForm, sendForLink, sealInPage } = sealingPages(site);

/** The question of the browser before a page is left, which the visit answers with "stay". */
const question = /^dialog: /;

const wholeLink = (page: Page) => page.locator("#link").inputValue();
const copy = (page: Page) =>
  copyBy(page, () => page.getByRole("button", { name: created.copyLink, exact: true }).click());
const keptKeys = (page: Page) => page.evaluate(() => JSON.stringify(sessionStorage));

async function expectGone(page: Page): Promise<void> {
  await page.getByText(endToEnd.keyGoneText).waitFor();
  expect(await page.locator("#link").isVisible()).toBe(false);
  expect(await page.content()).not.toContain("AGE-SECRET-KEY-1");
  expect(await keptKeys(page)).toBe("{}");
}

describe("the page of a link that was sealed in this tab", () => {
  it("has the whole link after each reload, which is never in its address, and no longer once it was copied and left", async () => {
    const { page, link } = await sealInPage("x", "", { leavesAnyway: true });
    const addresses: string[] = [];
    page.on("framenavigated", (frame) => addresses.push(frame.url()));
    for (const _reload of [1, 2]) {
      await page.reload();
      await page.locator("#link").waitFor();
      expect(await wholeLink(page)).toBe(link);
      expect(await page.locator("#message").inputValue()).toContain(link);
    }
    expect(addresses.join()).not.toContain("AGE-SECRET-KEY-1");

    await copy(page);
    await page.goto("/");
    expect(await keptKeys(page)).toBe("{}");
    await page.goBack();
    await expectGone(page);
    await page.reload();
    await expectGone(page);
  });

  it("is reached without the key in an address", async () => {
    const { page } = await sealInPage("x");
    const names = await page.evaluate(() => performance.getEntriesByType("navigation").map(({ name }) => name));
    expect(names.join()).not.toContain("AGE-SECRET-KEY-1");
  });

  it("asks before it is left, until the link was copied", async () => {
    const { page, link } = await sealInPage("x", "", { expectedErrors: question });
    const asked = page.waitForEvent("dialog");
    await page.getByRole("link", { name: created.another, exact: true }).click();
    expect((await asked).type()).toBe("beforeunload");
    expect(await wholeLink(page)).toBe(link);

    await copy(page);
    await page.getByRole("link", { name: created.another, exact: true }).click();
    await page.waitForURL("**/?kind=text");
  });

  it("takes a message that was shared for handed over, but not one whose sharing was cancelled", async () => {
    const page = await openForm("text", { expectedErrors: question });
    await page.addInitScript(() => {
      let calls = 0;
      navigator.share = async () => {
        calls += 1;
        if (calls === 1) throw new DOMException("Cancelled", "AbortError");
      };
    });
    await page.reload();
    await page.getByLabel(endToEnd.seal, { exact: true }).check();
    await newPushForm(page).payload.fill("x");
    await sendForLink(page);
    const share = page.getByRole("button", { name: created.share, exact: true });
    const another = page.getByRole("link", { name: created.another, exact: true });
    await share.click();
    const asked = page.waitForEvent("dialog");
    await another.click();
    await asked;
    await share.click();
    await another.click();
    await page.waitForURL("**/?kind=text");
    await page.goBack();
    await expectGone(page);
  });

  it("does not take a part of the link for it", async () => {
    const { page } = await sealInPage("x", "", { expectedErrors: question });
    await page.locator("#link").focus();
    await page.locator("#link").evaluate((field: HTMLInputElement) => field.setSelectionRange(0, 20));
    await page.keyboard.press("ControlOrMeta+C");
    const asked = page.waitForEvent("dialog");
    await page.getByRole("link", { name: created.another, exact: true }).click();
    await asked;
    await page.locator("#link").evaluate((field: HTMLInputElement) => field.select());
    await page.locator("#link").press("ControlOrMeta+C");
    await page.getByRole("link", { name: created.another, exact: true }).click();
    await page.waitForURL("**/?kind=text");
  });

  it("loses its key at sign-out", async () => {
    const { page } = await sealInPage("x", "", { signedIn: true, leavesAnyway: true });
    const preview = page.url();
    expect(await keptKeys(page)).toContain("AGE-SECRET-KEY-1");
    await page.goto("/users/sign_out");
    expect(await keptKeys(page)).toContain("AGE-SECRET-KEY-1");
    await page.locator("main").getByRole("button", { name: en.nav.signOut }).click();
    await page.getByRole("link", { name: en.nav.signIn }).first().waitFor();
    expect(await keptKeys(page)).toBe("{}");
    await page.goto(preview);
    expect(await page.content()).not.toContain("AGE-SECRET-KEY-1");
  });

  it("does not ask before it opens an email, and keeps its key from other tabs", async () => {
    const { page, link } = await sealInPage("x", "", { expectedErrors: /^asked mailto:/ });
    await unfold(page, created.showMessage);
    await page.locator("#mail_message").click();
    expect(await wholeLink(page)).toBe(link);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await expectGone(other);
  });
});
