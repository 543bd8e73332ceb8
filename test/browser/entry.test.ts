import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { accountMenu, signOutByMenu } from "../support/account-menu.ts";
import { answerTo } from "../support/browser-forms.ts";
import { makeFolder } from "../support/folders.ts";
import { bootCodeOf } from "../support/form-requests.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { linkIn, openMailSink } from "../support/mail-sink.ts";
import { startServer } from "../support/server.ts";
import { connectBrowser } from "../support/shared-browser.ts";
import { openSite } from "../support/site.ts";
import { email as someone, startVisit } from "../support/visit.ts";

const { entry, nav, signIn } = en;
const sink = await openMailSink();
const site = openSite(sink.environment);

const byHand = { signedIn: "by hand", reducedMotion: "reduce" } as const;
const password = "marble-otter-lantern";

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const pathOf = ({ pathname, search }: URL) => `${pathname}${search}`;

async function signInBy(page: Page, email: string, as: string): Promise<void> {
  await field(page, signIn.email).fill(email);
  await field(page, signIn.password).fill(as);
  await press(page, signIn.submit);
}

async function isSignedIn(page: Page): Promise<void> {
  await accountMenu(page).waitFor();
}

describe.each([
  ["with scripts", { ...byHand, javaScriptEnabled: true }],
  ["without scripts", { ...byHand, javaScriptEnabled: false }],
])("%s", (how, options) => {
  const email = how === "with scripts" ? "grace@example.com" : "mary@example.com";

  it("a user signs up, confirms with the emailed link, signs in, and resets a forgotten password", async () => {
    const { page } = await site.visit(options);
    await page.goto("/users/sign_in");
    await page.getByRole("link", { name: entry.signUp.heading }).click();
    await page.waitForURL("/users/sign_up");
    await field(page, entry.fields.email).fill(email);
    await field(page, entry.fields.password).fill(password);
    await press(page, entry.signUp.submit);
    await page.getByRole("heading", { name: entry.signUp.sentHeading }).waitFor();

    await page.goto("/users/sign_in");
    await signInBy(page, email, password);
    await page.getByText(entry.confirmation.first).waitFor();

    await page.goto(pathOf(linkIn(await sink.next(email), "/users/confirmation")));
    await press(page, entry.confirmation.submit);
    await page.getByText(entry.confirmation.done).waitFor();
    await signInBy(page, email, password);
    await isSignedIn(page);
    await signOutByMenu(page);
    await page.getByRole("link", { name: nav.signIn }).first().waitFor();

    await page.goto("/users/sign_in");
    await page.getByRole("link", { name: entry.recovery.link }).click();
    await page.waitForURL("/users/password/new");
    await field(page, entry.fields.email).fill(email);
    await press(page, entry.recovery.submit);
    await page.getByText(entry.recovery.sent).waitFor();
    await page.goto(pathOf(linkIn(await sink.next(email), "/users/password/edit")));
    await field(page, entry.fields.newPassword).fill(`${password}-2`);
    await press(page, entry.recovery.newSubmit);
    await page.getByText(entry.recovery.done).waitFor();
    await signInBy(page, email, `${password}-2`);
    await isSignedIn(page);
  });
});

it("the sign-up form shows the error beside the field, keeps the address and clears the password", async () => {
  const { page } = await site.visit();
  await page.goto("/users/sign_up");
  await field(page, entry.fields.email).fill("ada.lovelace@example.com");
  await field(page, entry.fields.password).fill("Ada.Lovelace1815");
  await answerTo(page, () => press(page, entry.signUp.submit));
  await page.getByText(entry.problems.passwordEmail).waitFor();
  expect(await field(page, entry.fields.email).inputValue()).toBe("ada.lovelace@example.com");
  expect(await field(page, entry.fields.password).inputValue()).toBe("");
  expect(await page.evaluate("document.activeElement?.id")).toBe("password");
});

describe("layout and accessibility", () => {
  it.each([
    ["a forgotten password", "/users/password/new", entry.recovery.submit],
    ["another confirmation email", "/users/confirmation/new", entry.confirmation.againSubmit],
  ])("%s", async (_, path, button) => {
    const { page } = await site.visit({ reducedMotion: "reduce" });
    await page.goto(path);
    await expectAccessibleLayout(page);
    await field(page, entry.fields.email).fill("nobody@example.com");
    await press(page, button);
    await page.getByRole("alert").waitFor();
    await expectAccessibleLayout(page);
  });

  it("the pages of emailed links and the pages after them", async () => {
    const { page } = await site.visit({ reducedMotion: "reduce" });
    const long = `${"a".repeat(60)}@${"b".repeat(60)}.example`;
    await page.goto("/users/sign_up");
    await field(page, entry.fields.email).fill(long);
    await field(page, entry.fields.password).fill(password);
    await press(page, entry.signUp.submit);
    await page.getByRole("heading", { name: entry.signUp.sentHeading }).waitFor();
    await expectAccessibleLayout(page);
    await page.goto(pathOf(linkIn(await sink.next(long), "/users/confirmation")));
    await expectAccessibleLayout(page);
    await press(page, entry.confirmation.submit);
    await page.getByText(entry.confirmation.done).waitFor();
    await expectAccessibleLayout(page);
    await page.goto("/users/password/new");
    await field(page, entry.fields.email).fill(someone);
    await press(page, entry.recovery.submit);
    await page.getByRole("alert").waitFor();
    await page.goto(pathOf(linkIn(await sink.next(someone), "/users/password/edit")));
    await expectAccessibleLayout(page);
    await page.goto("/users/password/edit?reset_password_token=x");
    await expectAccessibleLayout(page);
  });
});

it("the first run: the code from the log creates an administrator, and the page is closed afterwards", async () => {
  const folder = makeFolder();
  const server = await startServer({ dataDir: folder });
  const browser = await connectBrowser();
  onTestFinished(() => browser.close());
  const { page } = await startVisit(browser, server.baseUrl, byHand);
  await page.goto("/users/sign_in");
  await expectAccessibleLayout(page);
  await page.getByRole("link", { name: entry.firstRun.inviteLink }).click();
  await page.waitForURL("/first_run");
  await expectAccessibleLayout(page);
  await field(page, entry.fields.bootCode).fill("wrong");
  await field(page, entry.fields.email).fill("admin@example.com");
  await field(page, entry.fields.password).fill(password);
  await press(page, entry.firstRun.submit);
  await page.getByText(entry.problems.bootCode).waitFor();
  await expectAccessibleLayout(page);
  await field(page, entry.fields.bootCode).fill(bootCodeOf(server));
  await field(page, entry.fields.password).fill(password);
  await press(page, entry.firstRun.submit);
  await page.waitForURL(/\/admin$/);
  await accountMenu(page).waitFor();
  await page.goto("/first_run");
  expect(new URL(page.url()).pathname).toBe("/");
  const { page: strangersPage } = await startVisit(browser, server.baseUrl, byHand);
  await strangersPage.goto("/first_run");
  expect(new URL(strangersPage.url()).pathname).toBe("/users/sign_in");
});

describe("with sign-ins disabled", () => {
  const closed = openSite({ PWP__DISABLE_LOGINS: "true" });

  it("pages say so, and nothing links there", async () => {
    const { page } = await closed.visit({ reducedMotion: "reduce" });
    await page.goto("/users/sign_in");
    await page.getByRole("heading", { name: entry.closed.heading }).waitFor();
    await expectAccessibleLayout(page);
    await page.goto("/");
    expect(await page.getByRole("link", { name: nav.signIn }).count()).toBe(0);
  });
});
