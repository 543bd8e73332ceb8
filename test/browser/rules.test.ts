import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { answerTo, createLink, newPushForm } from "../support/browser-forms.ts";
import { openMailSink } from "../support/mail-sink.ts";
import { openSite } from "../support/site.ts";

const { endToEnd, kinds, pushEmails, rules } = en;
const passphrase = "wrapped otter lantern";

const sink = await openMailSink();
const everyRuleButSealing = {
  ...sink.environment,
  PWP__ENABLE_USER_ACCOUNT_EMAILS: "false",
  PWP__POLICY__PASSPHRASE_REQUIRED: "true",
  PWP__POLICY__PASSPHRASE_MIN_LENGTH: "12",
  PWP__POLICY__PASSPHRASE_COMMON_ALLOWED: "false",
  PWP__POLICY__MAX_MINUTES: "60",
  PWP__POLICY__MAX_VIEWS: "3",
  PWP__POLICY__KINDS: "text,url",
  PWP__POLICY__NOTIFY_ON_VIEW_REQUIRED: "true",
  PWP__POLICY__MAIL_DOMAINS: "example.com",
  PWP__REQUESTS__ENABLED: "false",
};
const site = openSite(everyRuleButSealing);
const longPassphrases = openSite({ PWP__POLICY__PASSPHRASE_MIN_LENGTH: "64" });
const sealing = openSite({ ...everyRuleButSealing, PWP__POLICY__ENCRYPTION_REQUIRED: "true" });

const mailRule = rules.mailDomains({ domains: "example.com" });

/** Why the form allows no more. */
const reasons = [
  rules.kinds,
  rules.passphrase,
  rules.passphraseLength({ count: 12 }),
  rules.passphraseCommon,
  rules.life({ time: en.formats.timeSpan(60) }),
  rules.views({ count: 3 }),
  rules.notify,
  mailRule,
];

const untilServer = "for (const form of document.forms) form.noValidate = true;";

async function shownText(page: Page): Promise<string> {
  return (await page.locator("main").innerText()).replaceAll(/\s+/g, " ");
}

describe.each([
  ["with scripts", true],
  ["without scripts", false],
])("under every rule that the server can check, %s", (_how, javaScriptEnabled) => {
  it("the form offers only what is allowed, and says why", async () => {
    const { page } = await site.visit({ signedIn: true, javaScriptEnabled });
    await page.goto("/");
    const form = newPushForm(page);
    await form.more.click();
    const tabs = page.getByRole("group", { name: kinds.label }).getByRole("button");
    expect(await tabs.allInnerTexts()).toEqual([kinds.text, kinds.url]);
    const text = await shownText(page);
    for (const reason of reasons) expect(text).toContain(reason);
    const times = await form.expiry.locator("option").evaluateAll((all) => all.map((option) => option.textContent));
    const allowed = [15, 30, 45, 60].map((minutes) => en.formats.timeSpan(minutes));
    expect(times.slice(0, allowed.length)).toEqual(allowed);
    // The last one is typed: a time, or days.
    expect(times).toHaveLength(allowed.length + 1);
    expect(await form.views.getAttribute("max")).toBe("3");
    expect(await form.views.inputValue()).toBe("3");
    expect(await form.passphrase.getAttribute("required")).not.toBeNull();
    expect(await page.getByLabel(pushEmails.onView).isChecked()).toBe(true);
    expect(await page.locator("a[href^='/requests']").count()).toBe(0);
  });

  it("what breaks a rule is refused at its field, and what keeps to all of them is made", async () => {
    const { page } = await site.visit({ signedIn: true, javaScriptEnabled });
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("secret");
    await form.passphrase.fill("Password2024!");
    await form.views.fill("4");
    await form.more.click();
    await page.locator("#push_notify_emails_to").fill("bob@example.org");
    await page.getByLabel(pushEmails.onView).uncheck();
    await page.evaluate(untilServer);
    expect((await answerTo(page, () => form.submit.click())).status()).toBe(422);
    const problems = await page.getByRole("alert").first().getByRole("link").allInnerTexts();
    const broken = [rules.views({ count: 3 }), rules.passphraseCommon, rules.notify, mailRule];
    expect(problems).toHaveLength(broken.length);
    for (const reason of broken) expect(problems.join(" ")).toContain(reason);
    expect(await form.payload.inputValue()).toBe("secret");
    await form.passphrase.fill(passphrase);
    await form.views.fill("2");
    await page.locator("#push_notify_emails_to").fill("bob@example.com");
    await page.getByLabel(pushEmails.onView).check();
    await form.submit.click();
    await page.waitForURL(/\/p\/\w+\/preview/);
    await sink.next("bob@example.com");
  });
});

describe("under every rule at once", () => {
  it("with scripts, the secret is sealed in the browser, and nothing else can be chosen", async () => {
    const { page } = await sealing.visit({ signedIn: true });
    await page.goto("/");
    const form = newPushForm(page);
    expect(await shownText(page)).toContain(rules.encryption);
    await form.payload.fill("secret");
    await form.passphrase.fill(passphrase);
    await form.submit.click();
    await page.waitForURL(/\/p\/\w+\/preview/);
    expect(await page.getByLabel(en.created.link, { exact: true }).inputValue()).toContain("#");
  });

  it.each([
    ["attackers try first", "Password2024!"],
    ["is long enough only in UTF-16", "\u{1f512}\u{1f600}\u{1f4a1}\u{1f680}\u{1f9e9}\u{1f335}"],
  ])("with scripts, the browser refuses a passphrase that %s, because the server does not get it", async (_, bad) => {
    const { page } = await sealing.visit({ signedIn: true });
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("secret");
    await form.passphrase.fill(bad);
    await form.submit.click();
    await page.getByRole("alert").filter({ hasText: rules.passphraseCommon }).waitFor();
    expect(await form.passphrase.evaluate((field) => field === document.activeElement)).toBe(true);
    await form.passphrase.fill(passphrase);
    await form.submit.click();
    await page.waitForURL(/\/p\/\w+\/preview/);
  });

  it("without scripts, the form says that it cannot create anything, and the server refuses it", async () => {
    const { page } = await sealing.visit({ signedIn: true, javaScriptEnabled: false });
    await page.goto("/");
    const form = newPushForm(page);
    expect(await shownText(page)).toContain(endToEnd.sealNeedsScript);
    await form.payload.fill("secret");
    await form.passphrase.fill(passphrase);
    expect((await answerTo(page, () => form.submit.click())).status()).toBe(422);
    expect(await shownText(page)).toContain(rules.encryption);
  });
});

it("suggests a passphrase that is as long as the rules ask", async () => {
  const { page } = await longPassphrases.visit();
  await page.goto("/");
  const form = newPushForm(page);
  await form.payload.fill("secret");
  await page.getByRole("button", { name: en.newPush.suggestPassphrase }).click();
  expect((await form.passphrase.inputValue()).length).toBeGreaterThanOrEqual(64);
  await createLink(page);
});
