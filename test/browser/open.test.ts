import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy } from "../support/browser-forms.ts";
import { contentOf } from "../support/shared-browser.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { secret, step } = en;
const odd = "\n\n \tКлюч 🔑\u00a0 שלום <b>&amp;</b>\u200f\n  -----END-----\n\n ";
/** Characters that an HTML parser changes, and some that it keeps. */
const changedByParser = "\r\nfirst\rsecond\0third\r\n";

const payloadOf = (page: Page) => page.locator("#payload");
const veilOf = (page: Page, name: string) =>
  page.locator("[data-veil] > summary").getByText(name).filter({ visible: true });
const openMenu = (page: Page) => page.getByText(secret.more, { exact: true }).click();

async function openSecret(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("button", { name: step.open }).click();
  await page.getByRole("heading", { name: secret.text }).waitFor();
  // By then the scripts have run.
  await page.waitForLoadState();
}

/** What a screen reader finds in the page. */
const readOut = (page: Page) => page.locator("main").ariaSnapshot();

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

  it("is neither shown nor read out until it is revealed with the pointer", async () => {
    const { page } = await site.visit(options);
    const { path } = await site.push({ payload: "canary" });
    await openSecret(page, path);
    expect(await payloadOf(page).isVisible()).toBe(false);
    expect(await readOut(page)).not.toContain("canary");
    await veilOf(page, secret.reveal).click();
    await payloadOf(page).waitFor();
    expect(await readOut(page)).toContain("canary");
    await veilOf(page, secret.conceal).click();
    await payloadOf(page).waitFor({ state: "hidden" });
    expect(await readOut(page)).not.toContain("canary");
  });

  it("is revealed with the keyboard too", async () => {
    const { page } = await site.visit(options);
    const { path } = await site.push({ payload: "secret" });
    await openSecret(page, path);
    await page.locator("[data-veil] > summary").focus();
    await page.keyboard.press("Space");
    await payloadOf(page).waitFor();
  });

  it("says how often and when it was opened before, the same after a reload, and nothing about others", async () => {
    const { page } = await site.visit({ ...options, userAgent: "Browser of the first reader" });
    const { urlToken, path } = await site.push({ payload: "secret", expire_after_views: 5 });
    await openSecret(page, path);
    await page.getByText(secret.firstView).waitFor({ state: "attached" });
    await site.fetch(`/api/v2/pushes/${urlToken}`);
    await page.reload();
    await page.getByText(secret.repeated).waitFor();
    await openMenu(page);
    await page.getByText(secret.firstView).waitFor();

    const { page: other } = await site.visit({ ...options, timezoneId: "Asia/Tokyo" });
    await openSecret(other, path);
    const said = other.locator(".notice", { hasText: secret.openedBefore({ count: 2 }) });
    expect(await said.locator("time").getAttribute("datetime")).toMatch(/^20\d\d-/);
    expect(await said.textContent()).toContain(options.javaScriptEnabled ? "GMT+9" : "UTC");
    expect(await other.content()).not.toMatch(/127\.0\.0\.1|first reader/);
  });

  it("says what the page is, if asked", async () => {
    const { page } = await site.visit(options);
    await page.goto((await site.push({ payload: "secret" })).path);
    expect(await page.getByText(step.aboutEnd).isVisible()).toBe(false);
    await page.getByText(step.about).click();
    await page.getByText(step.aboutEnd).waitFor();
    await page.getByText("Sealpush is a service").waitFor();
  });

  it("is deleted after a confirmation", async () => {
    const { page } = await site.visit(options);
    const { path } = await site.push({ payload: "secret", deletable_by_viewer: true });
    await openSecret(page, path);
    expect(await page.getByRole("button", { name: secret.deleteConfirm }).isVisible()).toBe(false);
    await openMenu(page);
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
    await copyBy(page, () => page.getByRole("button", { name: en.actions.copy }).click());
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(payload);
  });

  it.each([odd, changedByParser])("is saved exactly: %j", async (payload) => {
    const { page } = await site.visit();
    await openSecret(page, (await site.push({ payload })).path);
    await openMenu(page);
    const started = page.waitForEvent("download");
    await page.getByRole("button", { name: secret.save }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe("secret.txt");
    expect((await contentOf(download)).toString()).toBe(payload);
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
    await page.getByRole("heading", { name: step.headingOwner }).waitFor();
    expect(await page.getByRole("link", { name: step.audit }).getAttribute("href")).toBe(`/p/${urlToken}/audit`);
    await page.getByRole("button", { name: step.open }).click();
    await page.getByText(secret.notCounted).waitFor();
    expect(await site.ownPush(urlToken)).toMatchObject({ views_remaining: 1, expired: false });
    expect(await site.auditKinds(urlToken)).toEqual(["creation", "owner_view"]);
  });
});

it("the view of an administrator is not counted, and the pages say so", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  const { urlToken, path } = await site.push({ payload: "secret", expire_after_views: 1 }, "owned");
  await page.goto(path);
  await page.getByRole("heading", { name: step.heading }).waitFor();
  await page.getByText(step.notCountedAdministrator).waitFor();
  expect(await page.getByRole("link", { name: step.audit }).count()).toBe(0);
  await page.getByRole("button", { name: step.open }).click();
  await page.getByText(secret.notCountedAdministrator).waitFor();
  expect(await site.ownPush(urlToken)).toMatchObject({ views_remaining: 1 });
});

/** Another tab hides this one; a browser under remote control shows all, so the test sets the state. */
const becomes = (page: Page, state: "hidden" | "visible") =>
  page.evaluate(`Object.defineProperty(document, "visibilityState", { configurable: true, value: "${state}" });
    document.dispatchEvent(new Event("visibilitychange"));`);

describe("the veil", () => {
  it("is closed again when its tab is left", async () => {
    const { page } = await site.visit();
    await openSecret(page, (await site.push({ payload: "canary" })).path);
    await veilOf(page, secret.reveal).click();
    await veilOf(page, secret.conceal).waitFor();
    await becomes(page, "hidden");
    await becomes(page, "visible");
    await veilOf(page, secret.reveal).waitFor();
    expect(await readOut(page)).not.toContain("canary");
  });

  it("keeps the secret open for a reader who wants that", async () => {
    const { page } = await site.visit();
    await openSecret(page, (await site.push({ payload: "canary" })).path);
    await openMenu(page);
    await page.getByLabel(secret.keepOpen).check();
    await veilOf(page, secret.reveal).click();
    await veilOf(page, secret.conceal).waitFor();
    await becomes(page, "hidden");
    await becomes(page, "visible");
    expect(await payloadOf(page).isVisible()).toBe(true);
  });
});

describe("the secret", () => {
  it.each([
    ["a text", { payload: "secret" }],
    ["a text on its last view", { payload: "secret", expire_after_views: 1 }],
    ["a text whose sender is shown", { payload: "secret", sender_shown: true }],
    ["a QR code", { payload: "secret", kind: "qr" }],
  ])("is on the first third of a phone's screen: %s", async (_name, push) => {
    const { page } = await site.visit({ viewport: { width: 390, height: 844 } });
    await page.goto((await site.push(push, "owned")).path);
    await page.getByRole("button", { name: step.open }).click();
    const box = page.locator("[data-veil]");
    await box.waitFor();
    expect((await box.boundingBox())?.y).toBeLessThanOrEqual(300);
  });
});

describe("a long secret", () => {
  it.each([390, 1280])(
    "has its copy button on the first screen at %i pixels, and copying moves nothing",
    async (width) => {
      const { page, context } = await site.visit({ viewport: { width, height: 800 } });
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      const payload = "a line of a long secret\n".repeat(2_000);
      await openSecret(page, (await site.push({ payload })).path);
      await veilOf(page, secret.reveal).click();
      await payloadOf(page).waitFor();
      const positions = () =>
        page.evaluate(`[document.body.scrollHeight, ...document.querySelectorAll("main :is(button, input, p):not(details *)")]
        .map((it) => typeof it === "number" ? it : it.getBoundingClientRect().top)`);
      const before = await positions();
      const copy = page.getByRole("button", { name: en.actions.copy });
      expect((await copy.boundingBox())?.y).toBeLessThan(700);
      expect(await page.evaluate("document.body.scrollHeight")).toBeLessThan(2_000);
      await copyBy(page, () => copy.click());
      expect(await positions()).toEqual(before);
      expect(await page.evaluate("scrollY")).toBe(0);
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(payload);
    },
  );
});

describe("the clipboard", () => {
  const clipboard = (page: Page) => page.evaluate("navigator.clipboard.readText()");

  it("is cleared a minute after a copy if the reader chooses so, which is remembered", async () => {
    const { page, context } = await site.visit();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.clock.install();
    const push = await site.push({ payload: "canary" });
    const copy = async () => {
      await page.getByRole("button", { name: en.actions.copy }).click();
      await expect.poll(() => clipboard(page)).toBe("canary");
    };
    await openSecret(page, push.path);
    await copy();
    await page.clock.fastForward(120_000);
    expect(await clipboard(page)).toBe("canary");
    await openMenu(page);
    await page.getByLabel(secret.clearClipboard).check();

    await openSecret(page, push.path);
    expect(await page.getByLabel(secret.clearClipboard).isChecked()).toBe(true);
    // Otherwise the clock also goes on by itself.
    await page.clock.pauseAt(Date.now() + 180_000);
    await copy();
    await page.getByRole("status").filter({ hasText: en.actions.copied }).waitFor();
    await page.clock.fastForward(59_000);
    expect(await clipboard(page)).toBe("canary");
    await page.clock.fastForward(1_000);
    await page.getByText(secret.clipboardCleared).waitFor();
    expect(await clipboard(page)).toBe("");
  });

  it("is kept if the browser refuses to clear it, and the page says so", async () => {
    const { page, context } = await site.visit();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.clock.install();
    await openSecret(page, (await site.push({ payload: "canary" })).path);
    await openMenu(page);
    await page.getByLabel(secret.clearClipboard).check();
    await copyBy(page, () => page.getByRole("button", { name: en.actions.copy }).click());
    await page.evaluate(
      `navigator.clipboard.writeText = async () => { throw new DOMException("", "NotAllowedError"); }`,
    );
    await page.clock.fastForward(60_000);
    await page.getByText(secret.clipboardKept).waitFor();
    expect(await clipboard(page)).toBe("canary");
  });
});

describe("without a blur", () => {
  const bare = openSite({ PWP__PW__ENABLE_BLUR: "false" });

  it("the text is visible at once", async () => {
    const { page } = await bare.visit();
    await openSecret(page, (await bare.push({ payload: "secret" })).path);
    expect(await payloadOf(page).isVisible()).toBe(true);
    expect(await page.getByText(secret.reveal).count()).toBe(0);
    expect(await payloadOf(page).textContent()).toBe("secret");
  });
});
