import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { answerTo } from "../support/browser-forms.ts";
import { appFor } from "../support/factors.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { addPasskeyProvider, underItsName } from "../support/passkey-provider.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

async function send(page: Page, form: string): Promise<void> {
  const buttons = page.locator(`form[action^="${form}"] button[type=submit]`).filter({ visible: true });
  await answerTo(page, () => buttons.first().click());
}

/** One test visits all pages of an account and checks each of them. */
describe.each(["en", "ar"])("layout and accessibility of second factors in %s", (locale) => {
  const site = openSite();

  it("are correct on every page", async () => {
    const { page, context } = await site.visit(
      underItsName(site, { locale, reducedMotion: "reduce", signedIn: "by hand" }),
    );
    await addPasskeyProvider(context, page);

    await page.goto("/users/sign_in");
    await expectAccessibleLayout(page);
    await page.evaluate("document.querySelector('[name=passkey]').value = '{}'");
    await page.evaluate("document.querySelector('[name=passkey]').form.submit()");
    await page.waitForURL("/users/sign_in/passkey");
    await expectAccessibleLayout(page);

    await signIn(page);
    await page.goto("/users/factors");
    await expectAccessibleLayout(page);

    await page.goto("/users/factors/authenticator_app");
    const { code } = appFor(await page.locator("#key").innerText(), () => Date.now());
    await page.locator("#code").fill("000000");
    await send(page, "/users/factors/authenticator_app");
    await expectAccessibleLayout(page);
    await page.locator("#code").fill(code());
    await send(page, "/users/factors/authenticator_app");
    const [backupCode = ""] = (await page.locator("#backup_codes").innerText()).trim().split("\n");
    await expectAccessibleLayout(page);

    await page.goto("/users/factors");
    await page.locator("#name").fill("averylongnamewithoutaplacetobreak".repeat(3));
    await page.locator("#add_passkey_proof").fill(password);
    await page.locator("[data-passkey=create] button").click();
    await page.locator("li.row").waitFor();
    await page.locator("main details > summary").first().click();
    await page.locator("#remove_app_proof").fill("wrong");
    await send(page, "/users/factors/authenticator_app/remove");
    await page.evaluate("for (const details of document.querySelectorAll('main details')) details.open = true");
    await expectAccessibleLayout(page);
    await page.goto("/users/factors/authenticator_app");
    await expectAccessibleLayout(page);

    await page.goto("/users/token");
    await page.locator("#name").fill("script");
    await page.locator("#token_proof").fill("wrong");
    await send(page, "/users/token");
    await expectAccessibleLayout(page);
    await page.locator(".proof [data-passkey=get] button").click();
    await page.locator("#token_proof:disabled").waitFor();
    // The button that was pressed is hidden by now.
    expect(await page.locator("form:has(#token_proof) button[type=submit]:focus").count()).toBe(1);
    await send(page, "/users/token");
    await page.locator("#token").waitFor();

    await context.clearCookies();
    await signIn(page);
    await page.locator("details.disclosure summary").click();
    await page.locator("#backup_code").fill(`${backupCode}x`);
    await page.locator("details.disclosure button[type=submit]").click();
    await page.locator('[role="alert"]').waitFor();
    expect(new URL(page.url()).pathname).toBe("/users/second_factor");
    await expectAccessibleLayout(page);
  });
});

async function signIn(page: Page): Promise<void> {
  await page.goto("/users/sign_in");
  await page.locator("#email").fill(email);
  await page.locator("#password").fill(password);
  await send(page, "/users/sign_in");
}
