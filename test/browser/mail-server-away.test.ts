import { expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

/** Nothing listens on the port of the discard protocol. */
const site = openSite({
  PWP__MAIL__SMTP_ADDRESS: "127.0.0.1",
  PWP__MAIL__SMTP_PORT: "9",
  PWP__ENABLE_USER_ACCOUNT_EMAILS: "true",
  PWP__OVERRIDE_BASE_URL: "http://push.example.com",
});

test.each([true, false])(
  "a visitor reads why nobody can sign up, and an administrator what to mend (scripts: %s)",
  async (javaScriptEnabled) => {
    await expect.poll(async () => (await site.fetch("/users/sign_up")).status).toBe(403);
    const visitor = await site.visit({ javaScriptEnabled });
    await visitor.page.goto("/users/sign_up");
    await visitor.page.getByText(en.entry.signUp.mailUnavailable).waitFor();
    expect(await visitor.page.locator("form[action='/users/sign_up']").count()).toBe(0);

    const administrator = await site.visit({ javaScriptEnabled, signedIn: "administrator" });
    await administrator.page.goto("/admin/users");
    const notice = administrator.page.locator(".notice").filter({ hasText: en.faults.mailServer });
    expect(await notice.textContent()).toContain("The mail server cannot be reached (connection refused).");
    for (const { page } of javaScriptEnabled ? [visitor, administrator] : []) {
      await expectAccessibleLayout(page);
    }
  },
);
