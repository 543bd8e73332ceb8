import type { BrowserContext, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { signOutByMenu } from "../support/account-menu.ts";
import { appFor } from "../support/factors.ts";
import { addPasskeyProvider, underItsName } from "../support/passkey-provider.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

const { factors, signIn, nav } = en;

async function giveEmailAndPassword(page: Page, stays = false): Promise<void> {
  await page.goto("/users/sign_in?next=/users/token");
  await page.getByLabel(signIn.email).fill(email);
  await page.getByLabel(signIn.password, { exact: true }).fill(password);
  await page.getByLabel(signIn.stay).setChecked(stays);
  await page.getByRole("button", { name: signIn.submit, exact: true }).click();
}

/** Whether the browser keeps the session's cookie when it closes. */
async function keepsCookie(context: BrowserContext): Promise<boolean> {
  const cookie = (await context.cookies()).find(({ name }) => name.endsWith("sealpush_session"));
  if (cookie === undefined) throw new Error("There is no session.");
  return cookie.expires !== -1;
}

/** Keys of requests are forgotten before the form is sent. */
async function signOut(page: Page): Promise<void> {
  await signOutByMenu(page);
  await page.getByRole("link", { name: nav.signIn }).first().waitFor();
}

describe("passkeys", () => {
  const site = openSite();

  it("can be added, used as second factor, used to sign in, used to confirm a change, and removed", async () => {
    const { page, context } = await site.visit(underItsName(site, { signedIn: true }));
    await addPasskeyProvider(context, page);
    const { passkeys, codes, challenge, proof, manage } = factors;

    await page.goto("/users/factors");
    await page.getByLabel(passkeys.name, { exact: true }).fill("laptop");
    await page.getByRole("button", { name: passkeys.add }).click();
    await page.getByRole("heading", { name: codes.madeHeading }).waitFor();
    expect((await page.locator("#backup_codes").innerText()).trim().split("\n")).toHaveLength(10);
    await page.getByRole("link", { name: codes.done }).click();
    const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "laptop" }) });
    expect(await row.innerText()).toContain(manage.never);

    // The same authenticator again: the page shows a message and sends nothing.
    await page.getByLabel(passkeys.name, { exact: true }).fill("again");
    await page.locator("#add_passkey_proof").fill(password);
    await page.getByRole("button", { name: passkeys.add }).click();
    await page.getByText(passkeys.known).waitFor();

    await signOut(page);
    await giveEmailAndPassword(page, true);
    await page.getByRole("heading", { name: challenge.heading }).waitFor();
    expect(await keepsCookie(context)).toBe(false);
    await page.getByRole("button", { name: passkeys.use }).click();
    await page.waitForURL("/users/token");
    expect(await keepsCookie(context)).toBe(true);

    for (const stays of [true, false]) {
      await signOut(page);
      await page.goto("/users/sign_in?next=/users/factors");
      await page.getByLabel(signIn.stay).setChecked(stays);
      await page.getByRole("button", { name: passkeys.signIn }).click();
      await page.waitForURL("/users/factors");
      expect(await keepsCookie(context)).toBe(stays);
    }
    expect(await row.innerText()).not.toContain(manage.never);

    await row.locator("summary").click();
    await row.getByRole("button", { name: proof.passkey }).click();
    await row.getByText(proof.confirmed).waitFor();
    await row.getByRole("button", { name: passkeys.removeConfirm }).click();
    await page.getByText(passkeys.none).waitFor();
    await signOut(page);
    await giveEmailAndPassword(page);
    await page.waitForURL("/users/token");
  });

  it("show a message if the browser returns none", async () => {
    const { page, context } = await site.visit(underItsName(site, {}));
    // The authenticator has no passkey for this server.
    await addPasskeyProvider(context, page);
    await page.goto("/users/sign_in");
    await page.getByRole("button", { name: factors.passkeys.signIn }).click();
    await page.getByText(factors.passkeys.cancelled).waitFor();
    expect(new URL(page.url()).pathname).toBe("/users/sign_in");
  });

  it("show a message if none is added, or the session has ended", async () => {
    // The request without a session is answered by a redirect, which the script does not follow.
    const options = { signedIn: true, expectedErrors: /net::ERR_FAILED/ } as const;
    const { page, context } = await site.visit(underItsName(site, options));
    await addPasskeyProvider(context, page, false);
    await page.goto("/users/factors");
    await page.getByLabel(factors.passkeys.name, { exact: true }).fill("laptop");
    await page.getByRole("button", { name: factors.passkeys.add }).click();
    await page.getByText(factors.passkeys.notAdded).waitFor();
    await context.clearCookies();
    await page.getByRole("button", { name: factors.passkeys.add }).click();
    await page.getByText(factors.passkeys.failed).waitFor();
  });

  it("that were removed from the account do not sign in", async () => {
    const { page, context } = await site.visit(underItsName(site, { signedIn: true }));
    const { passkeys, codes } = factors;
    await addPasskeyProvider(context, page);
    await page.goto("/users/factors");
    await page.getByLabel(passkeys.name, { exact: true }).fill("old phone");
    await page.getByRole("button", { name: passkeys.add }).click();
    await page.getByRole("link", { name: codes.done }).click();
    const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "old phone" }) });
    await row.locator("summary").click();
    await row.locator("input[name=proof]").fill(password);
    await row.getByRole("button", { name: passkeys.removeConfirm }).click();
    await page.getByText(passkeys.none).waitFor();
    await signOut(page);
    await page.goto("/users/sign_in");
    await page.getByRole("button", { name: passkeys.signIn }).click();
    await page.getByText(passkeys.signInWrong).waitFor();
  });

  it("are replaced by an explanation in browsers without them", async () => {
    const { page } = await site.visit(underItsName(site, { signedIn: true }));
    await page.addInitScript("delete window.PublicKeyCredential");
    await page.goto("/users/factors");
    await page.getByText(factors.passkeys.unsupported).waitFor();
    expect(await page.getByLabel(factors.passkeys.name, { exact: true }).count()).toBe(1);
    expect(await page.getByLabel(factors.passkeys.name, { exact: true }).isVisible()).toBe(false);
  });

  it("are hidden without scripts, with an explanation where they are managed", async () => {
    const { page } = await site.visit(underItsName(site, { signedIn: true, javaScriptEnabled: false }));
    await page.goto("/users/factors");
    expect(await page.getByRole("button", { name: factors.passkeys.add }).count()).toBe(0);
    // Locators do not find text inside `noscript`.
    const why = page.locator("noscript p");
    expect([await why.isVisible(), await why.textContent()]).toEqual([true, factors.passkeys.noScript]);
    await page.goto("/users/sign_in");
    expect(await page.getByRole("button", { name: factors.passkeys.signIn }).count()).toBe(0);
  });
});

describe("an authenticator app, without scripts", () => {
  const site = openSite();

  it("is set up, requested at sign-in, replaced by a backup code, and removed", async () => {
    const { page } = await site.visit({ signedIn: true, javaScriptEnabled: false });
    const { app, codes, challenge } = factors;
    await page.goto("/users/factors");
    await page.getByRole("link", { name: app.setUp }).click();
    const { code } = appFor(await page.locator("#key").innerText(), () => Date.now());
    await page.getByLabel(app.code).fill(code());
    await page.getByRole("button", { name: app.submit }).click();
    await page.getByRole("heading", { name: codes.madeHeading }).waitFor();
    const backupCodes = (await page.locator("#backup_codes").innerText()).trim().split("\n");
    await page.getByRole("link", { name: codes.done }).click();
    await page.getByText(codes.left({ count: 10 })).waitFor();

    await signOut(page);
    await giveEmailAndPassword(page);
    await page.getByLabel(challenge.code).fill("000000");
    await page.getByRole("button", { name: challenge.submit }).first().click();
    expect(await page.getByRole("alert").innerText()).toBe(challenge.wrong);
    expect(await page.getByLabel(challenge.code).inputValue()).toBe("");
    await page.getByText(challenge.backup).click();
    await page.getByLabel(challenge.backupCode).fill(backupCodes[0] ?? "");
    await page.getByRole("button", { name: challenge.submit }).last().click();
    await page.waitForURL("/users/token");

    await page.goto("/users/factors");
    await page.getByText(codes.left({ count: 9 })).waitFor();
    const change = page.locator("details").filter({ hasText: app.remove });
    await change.locator("summary").click();
    await change.getByLabel(factors.proof.label).fill("not the password");
    await change.getByRole("button", { name: app.removeConfirm }).click();
    await page.getByText(factors.proof.wrong).waitFor();
    await change.getByLabel(factors.proof.label).fill(password);
    await change.getByRole("button", { name: app.removeConfirm }).click();
    await page.getByRole("link", { name: app.setUp }).waitFor();
    expect(await page.getByText(codes.heading).count()).toBe(0);
  });
});
