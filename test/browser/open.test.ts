import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { secret, step } = en;
const odd = "\n\n \tКлюч 🔑\u00a0 שלום <b>&amp;</b>\u200f\n  -----END-----\n\n ";
/** Characters that an HTML parser changes, and some that it keeps. */
const changedByParser = "\r\nfirst\rsecond\0third\r\n";

const payloadOf = (page: Page) => page.locator("#payload");
const veilOf = (page: Page) => page.getByLabel(secret.reveal);

async function openSecret(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("button", { name: step.open }).click();
  await page.getByRole("heading", { name: secret.text }).waitFor();
}

/** Whether the text is readable on the screen. */
async function isBlurred(page: Page): Promise<boolean> {
  const filter = await page.evaluate("getComputedStyle(document.querySelector('.veil-content')).filter");
  return filter !== "none";
}

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("a text push %s", (_how, options) => {
  it("needs a click, and the page before the click does not contain the secret", async () => {
    const { page } = await site.visit(options);
    const push = await site.push({ payload: odd, expire_after_views: 2 });
    await page.goto(push.path);
    expect(await page.content()).not.toContain("Ключ");
    expect(await page.getByText(step.viewsLeft({ count: 2 })).isVisible()).toBe(true);
    await page.reload();
    await page.getByRole("button", { name: step.open }).click();
    expect(await payloadOf(page).textContent()).toBe(odd);
    expect(await page.getByText(secret.viewsLeft({ count: 1 })).isVisible()).toBe(true);
  });

  it("needs the click at both URLs of a push with a retrieval step", async () => {
    const { page } = await site.visit(options);
    const { urlToken } = await site.push({ payload: "secret", retrieval_step: true, expire_after_views: 2 });
    for (const path of [`/p/${urlToken}`, `/p/${urlToken}/r`]) {
      await openSecret(page, path);
      expect(await payloadOf(page).textContent()).toBe("secret");
      expect(new URL(page.url()).pathname).toBe(path);
    }
  });

  it("is opened at once without a retrieval step", async () => {
    const { page } = await site.visit(options);
    const push = await site.push({ payload: odd, retrieval_step: false, expire_after_views: 1 });
    await page.goto(push.path);
    expect(await payloadOf(page).textContent()).toBe(odd);
    expect(await page.getByText(secret.lastView).isVisible()).toBe(true);
  });

  it("is blurred until it is revealed with the pointer", async () => {
    const { page } = await site.visit(options);
    const { path } = await site.push({ payload: "secret" });
    await openSecret(page, path);
    expect(await isBlurred(page)).toBe(true);
    await page.locator("label", { hasText: secret.reveal }).click();
    await expect.poll(() => isBlurred(page)).toBe(false);
    await page.locator("label", { hasText: secret.conceal }).click();
    await expect.poll(() => isBlurred(page)).toBe(true);
  });

  it("is revealed with the keyboard too", async () => {
    const { page } = await site.visit(options);
    const { path } = await site.push({ payload: "secret" });
    await openSecret(page, path);
    await veilOf(page).focus();
    await page.keyboard.press("Space");
    await expect.poll(() => isBlurred(page)).toBe(false);
  });

  it("is deleted after a confirmation", async () => {
    const { page } = await site.visit(options);
    const { path } = await site.push({ payload: "secret", deletable_by_viewer: true });
    await openSecret(page, path);
    expect(await page.getByRole("button", { name: secret.deleteConfirm }).isVisible()).toBe(false);
    await page.locator("summary").filter({ hasText: secret.delete }).click();
    await page.getByRole("button", { name: secret.deleteConfirm }).click();
    await page.getByRole("heading", { name: en.deleted.heading }).waitFor();
    expect((await page.goto(path))?.status()).toBe(404);
  });

  it("has no delete button if the sender did not allow it, or after the last view", async () => {
    const { page } = await site.visit(options);
    const kept = await site.push({ payload: "secret", deletable_by_viewer: false });
    await openSecret(page, kept.path);
    expect(await page.getByText(secret.delete, { exact: true }).count()).toBe(0);
    const last = await site.push({ payload: "secret", deletable_by_viewer: true, expire_after_views: 1 });
    await openSecret(page, last.path);
    expect(await page.getByText(secret.delete, { exact: true }).count()).toBe(0);
  });
});

describe("an opened text", () => {
  it.each([odd, changedByParser])("is copied exactly: %j", async (payload) => {
    const { page, context } = await site.visit();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openSecret(page, (await site.push({ payload })).path);
    await page.getByRole("button", { name: en.actions.copy }).click();
    await page.getByRole("status").filter({ hasText: en.actions.copied }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(payload);
  });

  it.each([odd, changedByParser])("is saved exactly: %j", async (payload) => {
    const { page } = await site.visit();
    await openSecret(page, (await site.push({ payload })).path);
    const started = page.waitForEvent("download");
    await page.getByRole("button", { name: secret.save }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe("secret.txt");
    expect(await readFile(await download.path(), "utf8")).toBe(payload);
  });

  it("is selected for manual copying if the browser denies access to the clipboard", async () => {
    const { page, context } = await site.visit();
    await context.addInitScript("delete Navigator.prototype.clipboard; Document.prototype.execCommand = () => false;");
    await openSecret(page, (await site.push({ payload: "a secret\nof two lines" })).path);
    await page.getByRole("button", { name: en.actions.copy }).click();
    await page.getByRole("status").filter({ hasText: en.actions.copyByHand }).waitFor();
    expect(await page.evaluate("getSelection().toString()")).toBe("a secret\nof two lines");
  });

  it("is counted once after a double click", async () => {
    const { page } = await site.visit();
    const { urlToken, path } = await site.push({ payload: "secret", expire_after_views: 5 }, "owned");
    await page.goto(path);
    await page.getByRole("button", { name: step.open }).dblclick();
    await page.getByRole("heading", { name: secret.text }).waitFor();
    expect(await site.ownPush(urlToken)).toMatchObject({ views_remaining: 4 });
  });

  it("counts no view by its owner, and says so", async () => {
    const { page } = await site.visit({ signedIn: true });
    const { urlToken, path } = await site.push({ payload: "secret", expire_after_views: 1 }, "owned");
    await page.goto(path);
    expect(await page.getByText(step.notCounted).isVisible()).toBe(true);
    await page.getByRole("button", { name: step.open }).click();
    expect(await page.getByText(secret.notCounted).isVisible()).toBe(true);
    expect(await site.ownPush(urlToken)).toMatchObject({ views_remaining: 1, expired: false });
    expect(await site.auditKinds(urlToken)).toEqual(["creation", "owner_view"]);
  });
});

describe("without a blur", () => {
  const bare = openSite({ PWP__PW__ENABLE_BLUR: "false" });

  it("the text is visible at once", async () => {
    const { page } = await bare.visit();
    await openSecret(page, (await bare.push({ payload: "secret" })).path);
    expect(await page.locator(".veil-content").count()).toBe(0);
    expect(await payloadOf(page).textContent()).toBe("secret");
  });
});
