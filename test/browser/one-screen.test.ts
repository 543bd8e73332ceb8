import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy, newPushForm, pathOf } from "../support/browser-forms.ts";
import { openMailSink } from "../support/mail-sink.ts";
import { openSite } from "../support/site.ts";

const sink = await openMailSink({ baseUrl: "http://push.example.com" });
const site = openSite({
  ...sink.environment,
  PWP__ENABLE_USER_ACCOUNT_EMAILS: "false",
  PWP__FILES__ALLOW_ANONYMOUS: "true",
});
const { newPush } = en;
const languages = ["en", "de", "es", "fr", "pt-BR", "ja", "ar"];

const heightOf = (page: Page) => page.evaluate<number>("document.documentElement.scrollHeight");
const bottomOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).boundingBox();
  return box === null ? Number.NaN : box.y + box.height;
};
const focusedId = (page: Page) => page.evaluate<string>("document.activeElement.id");

/** The form of a user with emails, who sees every field. */
async function ownersForm(kind: string, viewport: { width: number; height: number }): Promise<Page> {
  const { page } = await site.visit({ signedIn: true, viewport, reducedMotion: "reduce" });
  await page.goto(`/?kind=${kind}`);
  return page;
}

it.each(["text", "url", "qr"])(
  "the form for a %s push has its button in sight and few words at 1280 px, and is at most 1,300 px high at 390 px, with the secret in sight",
  async (kind) => {
    const page = await ownersForm(kind, { width: 1280, height: 900 });
    expect(await heightOf(page)).toBeLessThanOrEqual(900);
    expect(await bottomOf(page, "[data-sends-by-keys]")).toBeLessThanOrEqual(900);
    const words = (await page.locator("main").innerText()).split(/\s+/).filter((word) => word !== "");
    expect(words.length).toBeLessThanOrEqual(200);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    expect(await heightOf(page)).toBeLessThanOrEqual(1_300);
    expect(await bottomOf(page, "#push_payload")).toBeLessThanOrEqual(844);
    expect(await bottomOf(page, "[data-sends-by-keys]")).toBeLessThanOrEqual(844);
  },
);

it("the form for files is at most 1,300 px high at 390 px, with its button within 844 px, and starts at the field", async () => {
  const page = await ownersForm("file", { width: 390, height: 844 });
  expect(await heightOf(page)).toBeLessThanOrEqual(1_300);
  expect(await bottomOf(page, "[data-sends-by-keys]")).toBeLessThanOrEqual(844);
  expect(await focusedId(page)).toBe("push_files");
});

it("the form for files without an account has its button within 844 px at 390 px", async () => {
  const { page } = await site.visit({ viewport: { width: 390, height: 844 } });
  await page.goto("/?kind=file");
  expect(await bottomOf(page, "[data-sends-by-keys]")).toBeLessThanOrEqual(844);
  expect(await page.getByRole("button", { name: newPush.hidePayload }).isVisible()).toBe(true);
});

it.each(["en", "de"])(
  "the form without an account has its button in sight on a low laptop screen, in %s",
  async (language) => {
    const { page } = await site.visit({ viewport: { width: 1366, height: 657 } });
    await page.goto(`/?locale=${language}`);
    expect(await bottomOf(page, "[data-sends-by-keys]")).toBeLessThanOrEqual(657);
  },
);

it("the form without an account has its button within 844 px at 390 px, without the keys where there is no keyboard", async () => {
  const viewport = { width: 390, height: 844 };
  const { page } = await site.visit({ viewport, hasTouch: true, isMobile: true });
  await page.goto("/");
  expect(await bottomOf(page, "[data-sends-by-keys]")).toBeLessThanOrEqual(844);
  expect(await page.locator(".key-hint").isVisible()).toBe(false);
  const { page: withKeyboard } = await site.visit({ viewport });
  await withKeyboard.goto("/");
  expect(await bottomOf(withKeyboard, "[data-sends-by-keys]")).toBeLessThanOrEqual(844);
  expect(await withKeyboard.locator(".key-hint").isVisible()).toBe(true);
});

it("the form has two columns where there is room: the secret, and beside it when it expires", async () => {
  const page = await ownersForm("text", { width: 1280, height: 900 });
  const leftOf = async (selector: string) => (await page.locator(selector).boundingBox())?.x ?? Number.NaN;
  const secret = await page.locator("#push_payload").boundingBox();
  const right = (secret?.x ?? 0) + (secret?.width ?? 0);
  for (const selector of ["#push_expire_after_views", "#push_passphrase", "[data-sends-by-keys]"]) {
    expect(await leftOf(selector)).toBeGreaterThan(right);
  }
});

it("the label of the secret and its buttons are one row at 360 px, in every language", async () => {
  const { page } = await site.visit({ viewport: { width: 360, height: 800 } });
  for (const language of languages) {
    await page.goto(`/?locale=${language}`);
    await page.locator("[data-add-fields]").waitFor();
    const middles = await page
      .locator(".field-head", { has: page.locator("[data-add-fields]") })
      .locator("> *")
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect()).map(({ y, height }) => y + height / 2));
    expect([language, middles.length]).toEqual([language, 3]);
    expect(Math.max(...middles) - Math.min(...middles), language).toBeLessThanOrEqual(1);
  }
});

it("the numbers of days and of views are one row with room for what is wrong with them, at 360 and 1280 px", async () => {
  for (const viewport of [
    { width: 360, height: 800 },
    { width: 1280, height: 900 },
  ]) {
    const page = await ownersForm("text", viewport);
    await page.locator("#push_expire_after_duration").selectOption("");
    const [days, views] = await Promise.all(
      ["#push_expire_after_days", "#push_expire_after_views"].map((field) => page.locator(field).boundingBox()),
    );
    expect(days?.y).toBe(views?.y);
    expect(Math.min(days?.width ?? 0, views?.width ?? 0)).toBeGreaterThanOrEqual(130);
  }
});

it.each([320, 360])("the form fits %i px with text of twice the size", async (width) => {
  const page = await ownersForm("text", { width, height: 800 });
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  await newPushForm(page).more.click();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
});

it("what can be done with a link is one row at 1280 px, in every language", async () => {
  const { urlToken } = await site.push({ payload: "x" }, "owned");
  const { page } = await site.visit({ signedIn: true, viewport: { width: 1280, height: 800 } });
  await page.addInitScript("navigator.share = () => Promise.resolve()");
  for (const language of languages) {
    await page.goto(`/p/${urlToken}/preview?locale=${language}`);
    await page.locator("[data-share]").waitFor();
    const tops = await page
      .locator(".handover-actions > :visible")
      .evaluateAll((actions) => actions.map((action) => Math.round(action.getBoundingClientRect().top)));
    expect([language, tops.length, new Set(tops).size]).toEqual([language, 6, 1]);
  }
});

describe("pushing and copying", () => {
  /** Fourteen characters, as a generated password. */
  const secret = "correct-horse!";

  it("takes two clicks and the secret, without scrolling", async () => {
    const page = await ownersForm("text", { width: 1280, height: 900 });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    expect(await focusedId(page)).toBe("push_payload");
    await page.keyboard.type(secret);
    const submit = await newPushForm(page).submit.boundingBox();
    // A click by the mouse does not scroll, as `click` of a locator would.
    await page.mouse.click((submit?.x ?? 0) + 10, (submit?.y ?? 0) + 10);
    await page.waitForURL(/preview$/);
    const copy = await page.getByRole("button", { name: en.created.copyLink }).boundingBox();
    await copyBy(page, () => page.mouse.click((copy?.x ?? 0) + 10, (copy?.y ?? 0) + 10));
    expect(await page.evaluate("scrollY")).toBe(0);
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain("/p/");
  });

  it.each(["Control", "Meta"])("takes the secret, %s+Enter and Enter with the keyboard alone", async (modifier) => {
    const page = await ownersForm("text", { width: 1280, height: 900 });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const keys = [...secret, `${modifier}+Enter`, "Enter"];
    expect(keys.length).toBeLessThanOrEqual(20);
    for (const key of keys.slice(0, -1)) await page.keyboard.press(key);
    await page.waitForURL(/preview$/);
    await page.waitForFunction("document.activeElement.dataset.copy === 'link'");
    await copyBy(page, () => page.keyboard.press(keys.at(-1) ?? ""));
    const link = String(await page.evaluate("navigator.clipboard.readText()"));
    await page.goto(pathOf(link));
    await page.getByRole("button", { name: en.step.open }).click();
    expect(await page.locator("#payload").textContent()).toBe(secret);
  });
});

describe("the line that options, labels and emails are folded behind", () => {
  const shown = (page: Page) => page.locator(".more-set > :visible").allTextContents();

  it.each([
    ["with scripts", { javaScriptEnabled: true }],
    ["without scripts", { javaScriptEnabled: false }],
  ])("says what is set and opens %s", async (_how, options) => {
    const { page } = await site.visit({ signedIn: true, ...options });
    await page.goto("/");
    const form = newPushForm(page);
    expect(await shown(page)).toEqual([newPush.set.retrievalStep, newPush.set.deletable, newPush.set.sender]);
    expect(await form.name.isVisible()).toBe(false);
    await form.more.click();
    expect(await form.name.isVisible()).toBe(true);
  });

  it("follows what is typed", async () => {
    const { page } = await site.visit({ signedIn: true });
    await page.goto("/");
    const form = newPushForm(page);
    await form.more.click();
    await form.deletable.uncheck();
    await form.name.fill("VPN");
    await page.locator("#push_notify_emails_to").fill("bob@example.com, eve@example.com,");
    await page.locator("#push_notify_on_view").check();
    const { set } = newPush;
    expect(await shown(page)).toEqual([set.retrievalStep, set.sender, set.name, set.mail({ count: "2" }), set.notify]);
    await form.retrievalStep.uncheck();
    await page.locator("#push_sender_shown").uncheck();
    await form.name.fill("");
    await page.locator("#push_notify_emails_to").fill("");
    await page.locator("#push_notify_on_view").uncheck();
    expect(await shown(page)).toEqual([set.nothing]);
  });

  it("is open where something in it is wrong", async () => {
    const { page } = await site.visit({ signedIn: true, javaScriptEnabled: false });
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("secret");
    await form.more.click();
    await page.locator("#push_notify_emails_to").fill("bob@example.com, bob@example.com");
    await form.submit.click();
    await page.locator("#push_notify_emails_to_problem").waitFor();
    expect(await page.locator("#push_notify_emails_to").isVisible()).toBe(true);
    expect(await shown(page)).toContain(newPush.set.mail({ count: "2" }));
  });

  it("opens where the browser refuses what is in it", async () => {
    const { page } = await site.visit({ signedIn: true });
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("secret");
    await form.more.click();
    await page.locator("#push_notify_emails_to").fill("nobody");
    await form.more.click();
    await form.submit.click();
    expect(await page.locator("#push_notify_emails_to").isVisible()).toBe(true);
    expect(await focusedId(page)).toBe("push_notify_emails_to");
  });
});

it("the form of an edit is at most 1,100 px high at 1280 px, with its button in sight, and starts at the name", async () => {
  const { page } = await site.visit({ signedIn: true, viewport: { width: 1280, height: 900 } });
  const { urlToken } = await site.push({ payload: "secret", passphrase: "phrase", notify_on_view: true }, "owned");
  await page.goto(`/p/${urlToken}/edit`);
  expect(await heightOf(page)).toBeLessThanOrEqual(1_100);
  expect(await bottomOf(page, "[data-sends-by-keys]")).toBeLessThanOrEqual(900);
  expect(await focusedId(page)).toBe("push_name");
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await heightOf(page)).toBeLessThanOrEqual(1_700);
});

it("pages of an account start at their first field", async () => {
  const { page } = await site.visit({ signedIn: true, viewport: { width: 1280, height: 900 } });
  for (const [path, id] of [
    ["/users/token", "name"],
    ["/users/edit", "email"],
    ["/users/edit?tab=defaults", "first_kind"],
  ] as const) {
    await page.goto(path);
    expect([path, await focusedId(page)]).toEqual([path, id]);
  }
});
