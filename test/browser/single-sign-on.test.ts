import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { accountMenu } from "../support/account-menu.ts";
import { freePort } from "../support/free-port.ts";
import { testLayout } from "../support/layout-tests.ts";
import type { PageState } from "../support/page-state.ts";
import { providerName, startProvider } from "../support/provider.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

// The provider needs the server's address before either runs.
const port = await freePort();
const provider = await startProvider(`http://127.0.0.1:${port}`);
afterAll(() => provider.close());
const site = openSite({ ...provider.environment, PORT: String(port) });

const { singleSignOn: messages, nav } = en;
const button = messages.continueWith({ name: providerName });
const allowedOrigins = [provider.issuer];
provider.people.set("b-1", { email: "bob@example.com", email_verified: true });
provider.people.set("a-1", { email, email_verified: true });
for (const locale of ["en", "ar"])
  provider.people.set(`c-${locale}`, { email: `cleo.${locale}@example.com`, email_verified: true });
provider.people.set("u-1", { email: "una@example.com", email_verified: false });

async function signOn(page: Page, person: string, from = "/users/sign_in"): Promise<void> {
  provider.answer = { login: { accountId: person } };
  await page.goto(from);
  await page.getByRole("button", { name: button }).click();
}

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("single sign-on %s", (_how, options) => {
  it("leads to the provider and back to the start, under the content security policy of every page", async () => {
    const { page, context } = await site.visit({ ...options, signedIn: "by hand", allowedOrigins });
    await signOn(page, "b-1", "/users/sign_in?next=%2Fusers%2Ftoken");
    await page.waitForURL("/users/token");
    expect(await accountMenu(page).getAttribute("title")).toBe(nav.signedInAs({ email: "bob@example.com" }));
    const ours = (await context.cookies()).filter(({ name }) => name.startsWith("sealpush"));
    expect(ours).toMatchObject([{ name: "sealpush_session", httpOnly: true, sameSite: "Lax" }]);
  });

  it("does not send the form again when the browser goes back", async () => {
    const { page } = await site.visit({ ...options, signedIn: "by hand", allowedOrigins });
    await signOn(page, "b-1");
    await page.waitForURL("/");
    await page.goBack();
    await page
      .getByRole("button", { name: button })
      .or(page.getByRole("heading", { name: messages.invalid }))
      .or(accountMenu(page))
      .waitFor();
  });
});

it("an existing account is linked only after its owner confirms, and can be unlinked", async () => {
  const { page } = await site.visit({ signedIn: "by hand", allowedOrigins });
  await signOn(page, "a-1");
  await page.getByRole("heading", { name: messages.confirm }).waitFor();
  expect(await accountMenu(page).count()).toBe(0);
  await page.getByLabel(messages.password).fill("not this one");
  await page.getByRole("button", { name: messages.confirmSubmit }).click();
  await page.getByText(messages.wrongPassword).waitFor();
  expect(await page.getByLabel(messages.password).inputValue()).toBe("");
  await page.getByLabel(messages.password).fill(password);
  await page.getByRole("button", { name: messages.confirmSubmit }).click();
  await page.waitForURL("/");

  await page.goto("/users/edit?tab=access");
  await page.getByRole("link", { name: messages.manage }).click();
  await page.getByText(messages.linkedSince).waitFor();
  await page.getByText(messages.unlink, { exact: true }).click();
  await page.getByLabel(messages.yourPassword).fill(password);
  await page.getByRole("button", { name: messages.unlinkConfirm }).click();
  await page.getByRole("button", { name: messages.link({ name: providerName }) }).click();
  await page.getByLabel(messages.password).fill(password);
  await page.getByRole("button", { name: messages.confirmSubmit }).click();
  await page.waitForURL("/users/single_sign_on");
  await page.getByText(messages.unlink, { exact: true }).click();
  await page.getByLabel(messages.yourPassword).fill(password);
  await page.getByRole("button", { name: messages.unlinkConfirm }).click();
  await page.getByText(messages.notLinked).waitFor();
});

const away = { signedIn: "by hand", allowedOrigins } as const;
const submit = "main form button[type=submit]";

/** Presses the button of the page in any language. */
async function goAway(page: Page, person: string): Promise<void> {
  provider.answer = person === "" ? { error: "access_denied" } : { login: { accountId: person } };
  await page.goto("/users/sign_in");
  await page.locator("button[formaction*='/users/auth/oidc']").click();
}

const shown: readonly PageState[] = [
  { name: "sign-in with the provider's button", show: (page) => page.goto("/users/sign_in") },
  {
    name: "on the way to the provider",
    ...away,
    async show(page) {
      await page.route(`${provider.issuer}/**`, (route) => route.abort("aborted"));
      await goAway(page, "b-1");
      await page.locator(`a[href^="${provider.issuer}"]`).waitFor();
    },
  },
  {
    name: "confirming, refused",
    ...away,
    async show(page) {
      await goAway(page, "a-1");
      await page.waitForURL(/confirm/);
      await page.locator("#password").fill("wrong");
      await page.locator(submit).click();
      await page.locator("#password_problem").waitFor();
    },
  },
  {
    name: "unverified email",
    ...away,
    async show(page) {
      await goAway(page, "u-1");
      await page.waitForURL(/callback/);
    },
  },
  {
    name: "refused by the provider",
    ...away,
    async show(page) {
      await goAway(page, "");
      await page.waitForURL(/callback/);
    },
  },
  { name: "nothing to complete", show: (page) => page.goto("/users/auth/oidc/confirm") },
  { name: "settings, not linked", signedIn: true, show: (page) => page.goto("/users/single_sign_on") },
  {
    name: "settings, linked as the only way to sign in",
    ...away,
    async show(page) {
      await goAway(page, "b-1");
      await page.waitForURL("/");
      await page.goto("/users/single_sign_on");
    },
  },
  {
    name: "settings, unlinking refused",
    ...away,
    async show(page) {
      await page.goto("/");
      await goAway(page, `c-${await page.locator("html").getAttribute("lang")}`);
      await page.waitForURL("/");
      await page.goto("/users/single_sign_on");
      await page.locator("form[action*='/again'] button").click();
      await page.waitForURL(/proved=1/);
      await page.goto("/users/edit?tab=access");
      await page.locator("#new_password").fill("a long enough password");
      await page.locator("#password_section button[type=submit]").click();
      await page.waitForURL(/done=password/);
      await page.goto("/users/single_sign_on");
      await page.locator("details.confirm summary").click();
      await page.locator("#password").fill("wrong");
      await page.locator("details.confirm button[type=submit]").click();
      await page.locator("#password_problem").waitFor();
    },
  },
];

describe("layout and accessibility in English", () => testLayout(site, "en", shown));
describe("layout and accessibility in Arabic", () => testLayout(site, "ar", shown));
