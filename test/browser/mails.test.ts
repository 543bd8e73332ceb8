import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { newPushForm, sendForm, unfold } from "../support/browser-forms.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { linkIn, openMailSink } from "../support/mail-sink.ts";
import { messagesIn } from "../support/messages.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

const sink = await openMailSink({ baseUrl: "http://push.example.com" });
const site = openSite({ ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "false" });

const long = `${"a.very.long.name.without.a.place.to.break".slice(0, 60)}@${"averylongdomain".repeat(4)}.example`;

test("an administrator invites a user, who chooses a password by the mailed link and signs in", async () => {
  const { page } = await site.visit({ signedIn: "administrator" });
  await page.goto("/admin/users");
  await page.getByText(en.admin.createUser, { exact: true }).first().click();
  await page.locator("#new_user").fill("grace@example.com");
  await page.getByRole("button", { name: en.admin.createUser }).click();
  await page.getByText(en.admin.createdMailed({ email: "grace@example.com" })).waitFor();
  await expectAccessibleLayout(page);
  const link = linkIn(await sink.next("grace@example.com"), "/users/password/edit");

  const invited = await site.visit({ signedIn: "by hand" });
  await invited.page.goto(`${link.pathname}${link.search}`);
  await invited.page.locator("#password").fill("marble-otter-lantern");
  await sendForm(invited.page);
  await invited.page.waitForURL(/done=password_changed$/);
  await invited.page.locator("#email").fill("grace@example.com");
  await invited.page.locator("#password").fill("marble-otter-lantern");
  await sendForm(invited.page);
  await invited.page.goto("/users/edit");
  expect(await invited.page.content()).toContain(en.nav.signedInAs({ email: "grace@example.com" }));
});

test("the form emails the link, and the owner gets the view notification", async () => {
  const { page } = await site.visit({ signedIn: true });
  await page.goto("/");
  await page.locator("#push_payload").fill("secret");
  await newPushForm(page).more.click();
  await page.locator("#push_notify_emails_to").fill("bob@example.com, eve@example.com");
  await page.locator("#push_notify_emails_to_locale").selectOption("fr");
  await page.locator("#push_notify_on_view").check();
  await sendForm(page);
  await page.waitForURL(/\/p\/\w+\/preview\?done=mailed$/);
  const sentTo = en.created.sentTo({ recipients: "bob@example.com, eve@example.com" });
  await page.getByRole("heading", { name: sentTo }).waitFor();
  const mail = await sink.next("bob@example.com");
  expect(mail.subject).toBe("Sealpush: Un secret pour vous (push.example.com)");
  const link = linkIn(mail, "/p/");
  await sink.next("eve@example.com");
  // The state of the delivery follows without a reload.
  await page.getByRole("status").filter({ hasText: en.pushEmails.statuses.completed }).waitFor();

  const recipient = await site.visit({ locale: "en-GB" });
  await recipient.page.goto(`${link.pathname}${link.search}`);
  expect(await recipient.page.locator("html").getAttribute("lang")).toBe("fr");
  await sendForm(recipient.page);
  const notification = await sink.next(email);
  expect(notification.subject).toBe("Sealpush: Your push was opened (push.example.com)");

  await page.goto(link.pathname.replace(/(?:\/r)?$/, "/edit"));
  expect(await page.locator("#push_notify_on_view").isChecked()).toBe(true);
  await page.getByText(en.newPush.more).click();
  await page.locator("#push_notify_on_view").uncheck();
  await sendForm(page);
  await page.goto(link.pathname.replace(/(?:\/r)?$/, "/edit"));
  expect(await page.locator("#push_notify_on_view").isChecked()).toBe(false);
});

test("the owner emails the link of an existing push, and errors are shown at the field", async () => {
  const { urlToken } = await site.push({ payload: "secret" }, "owned");
  const { page } = await site.visit({ signedIn: true });
  await page.goto(`/p/${urlToken}/preview?recipient=de`);
  await unfold(page, en.created.showMail);
  await page.locator("#push_notify_emails_to").fill("1@example.com,2@example.com,3@example.com");
  await sendForm(page);
  await page.waitForURL(/done=mailed#mail_link$/);
  const sentTo = en.created.sentTo({ recipients: "1@example.com, 2@example.com, 3@example.com" });
  await page.getByRole("heading", { name: sentTo }).waitFor();
  expect((await sink.next("3@example.com")).subject).toBe("Sealpush: Ein Geheimnis für Sie (push.example.com)");
  await unfold(page, en.created.showMail);
  await page.locator("#push_notify_emails_to").fill("4@example.com,5@example.com,6@example.com");
  await sendForm(page);
  expect(await page.locator("#push_notify_emails_to_problem").textContent()).toContain("5");
  expect(await page.locator("#push_notify_emails_to").inputValue()).toBe("4@example.com,5@example.com,6@example.com");
  await page.goto(`/p/${urlToken}/audit`);
  const trail = await page.locator(".timeline").textContent();
  for (const part of ["1@example.com, 2@example.com, 3@example.com", "Sent"]) expect(trail).toContain(part);
});

test("an administrator finds an email that was refused in a row of at most 152 pixels of a narrow screen", async () => {
  const to = "bob@example.com";
  const text = `5.1.1 <${to}>: Recipient address rejected: User unknown in local recipient table`;
  sink.refuseNext(1, { code: 550, text, at: "recipient" });
  const { urlToken } = await site.push({ payload: "secret" }, "owned");
  const { page: owner } = await site.visit({ signedIn: true });
  await owner.goto(`/p/${urlToken}/preview`);
  await unfold(owner, en.created.showMail);
  await owner.locator("#push_notify_emails_to").fill(to);
  await sendForm(owner);
  const viewport = { width: 390, height: 844 };
  const { page } = await site.visit({ signedIn: "administrator", viewport });
  const rows = page.locator("tbody tr");
  await expect
    .poll(async () => {
      await page.goto("/admin/mails");
      return await rows.count();
    })
    .toBe(1);
  expect(await rows.textContent()).toContain("User unknown");
  const heightOf = async () => (await rows.boundingBox())?.height;
  expect(await heightOf()).toBeLessThanOrEqual(152);
  await page.setViewportSize({ width: 1280, height: 844 });
  expect(await heightOf()).toBeLessThanOrEqual(64);
  await expectAccessibleLayout(page);
});

test.each([true, false])(
  "the reason why a link was not sent is visible on a small screen (scripts: %s)",
  async (scripts) => {
    const { urlToken } = await site.push({ payload: "secret" }, "owned");
    const { page } = await site.visit({
      signedIn: true,
      viewport: { width: 360, height: 740 },
      javaScriptEnabled: scripts,
    });
    const isInSight = (selector: string) =>
      page.locator(selector).evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top >= 0 && bottom <= window.innerHeight;
      });
    await page.goto(`/p/${urlToken}/preview`);
    await unfold(page, en.created.showMail);
    await page.locator("#push_notify_emails_to").fill("1@example.com,1@example.com");
    await sendForm(page);
    await expect.poll(() => isInSight("#push_notify_emails_to_problem")).toBe(true);
  },
);

test("only the owner can email a link, and only signed-in users are offered view notifications", async () => {
  const { urlToken } = await site.push({ payload: "secret" }, "owned");
  for (const signedIn of [undefined, "administrator"] as const) {
    const { page } = await site.visit(signedIn === undefined ? {} : { signedIn });
    await page.goto(`/p/${urlToken}/preview`);
    expect(await page.locator("#push_notify_emails_to").count()).toBe(0);
  }
  const { page } = await site.visit();
  await page.goto("/");
  expect(await page.locator("[name*=notify]").count()).toBe(0);
});

/** Signs up on the page, so that the address is not confirmed. */
async function joinBy(page: Page, address: string): Promise<void> {
  await page.goto("/users/sign_up");
  await page.locator("#email").fill(address);
  await page.locator("#password").fill(password);
  await sendForm(page);
}

test("without scripts, view notifications are offered after the address is confirmed by a link", async () => {
  const own = "unproven@example.com";
  const { page } = await site.visit({ signedIn: "by hand", javaScriptEnabled: false });
  await joinBy(page, own);
  await page.goto("/");
  expect(await page.locator("#push_notify_on_view").count()).toBe(0);
  await newPushForm(page).more.click();
  await page.getByRole("link", { name: en.pushEmails.confirmFirstLink }).click();
  await page.getByRole("button", { name: en.profile.email.confirmation.send }).click();
  await page.waitForURL(/done=confirmation#email_section$/);
  expect(await page.locator("#email_section .notice-success").textContent()).toBe(en.profile.email.confirmation.sent);
  const link = linkIn(await sink.next(own), "/users/confirmation");
  await page.goto(`${link.pathname}${link.search}`);
  await page.getByRole("button", { name: en.entry.confirmation.submit }).click();
  await page.getByText(en.profile.saved.confirmed).waitFor();
  expect(await page.locator("#email_confirmation").count()).toBe(0);
  await page.goto("/");
  expect(await page.locator("#push_notify_on_view").count()).toBe(1);
});

describe.each(["en", "ar"])("layout and accessibility in %s", (locale) => {
  const shown = () => site.visit({ locale, reducedMotion: "reduce", signedIn: true });

  test("the form with errors", async () => {
    const { page } = await shown();
    await page.goto("/");
    await page.evaluate("for (const form of document.forms) form.noValidate = true");
    await page.locator("#push_payload").fill("secret");
    await newPushForm(page).more.click();
    await page.locator("#push_notify_emails_to").fill(`${long}, no address`);
    await sendForm(page);
    await page.locator("#push_notify_emails_to_problem").waitFor();
    await expectAccessibleLayout(page);
  });

  test("the confirmation of an address", async () => {
    const { page } = await site.visit({ locale, reducedMotion: "reduce", signedIn: "by hand" });
    await joinBy(page, `${locale}.${long}`);
    await page.goto("/");
    await expectAccessibleLayout(page);
    await page.goto("/users/edit");
    await expectAccessibleLayout(page);
    for (let at = 0; at < 6; at += 1) await sendForm(page);
    expect(await page.locator("#email_confirmation_problem").count()).toBe(1);
    await expectAccessibleLayout(page);
    await page.goto("/users/edit?done=confirmation");
    await expectAccessibleLayout(page);
  });

  test("the page of the link and the audit trail", async () => {
    const { urlToken } = await site.push({ payload: "secret" }, "owned");
    const { page } = await shown();
    await page.goto(`/p/${urlToken}/preview`);
    await unfold(page, messagesIn(locale).created.showMail);
    await page.locator("#push_notify_emails_to").fill(long);
    await sendForm(page);
    await page.waitForURL(/done=mailed/);
    await expectAccessibleLayout(page);
    await sink.next(long);
    await page.goto(`/p/${urlToken}/audit`);
    await expectAccessibleLayout(page);
  });

  test("the edit form", async () => {
    const { urlToken } = await site.push({ payload: "secret", notify_on_view: true }, "owned");
    const { page } = await shown();
    await page.goto(`/p/${urlToken}/edit`);
    await page.locator("[data-more] > summary").click();
    expect(await page.locator("#push_notify_on_view").isChecked()).toBe(true);
    await expectAccessibleLayout(page);
  });
});
