import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { accountMenu, signOutByMenu } from "../support/account-menu.ts";
import { answerTo } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

const site = openSite();
const { signIn, nav } = en;

/** Signing in by hand sets a cookie: `signedIn` allows it for the visit. */
const byHand = { signedIn: "by hand" } as const;

async function signInBy(page: Page, as: { email: string; password: string }): Promise<void> {
  await page.getByLabel(signIn.email).fill(as.email);
  await page.getByLabel(signIn.password).fill(as.password);
  await page.getByRole("button", { name: signIn.submit }).click();
}

describe.each([
  ["with scripts", { ...byHand, javaScriptEnabled: true }],
  ["without scripts", { ...byHand, javaScriptEnabled: false }],
])("signing in %s", (_how, options) => {
  it("leads to the start page, shows the account, and signs out", async () => {
    const { page, context } = await site.visit(options);
    await page.goto("/");
    await page.getByRole("link", { name: nav.signIn }).click();
    await signInBy(page, { email: ` ${email.toUpperCase()} `, password });
    await page.waitForURL("/");
    expect(await accountMenu(page).getAttribute("title")).toBe(nav.signedInAs({ email }));
    const cookies = await context.cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Lax", path: "/" }]);

    await signOutByMenu(page);
    await page.getByRole("link", { name: nav.signIn }).waitFor();
    expect(await context.cookies()).toEqual([]);
    // A copy of the cookie from before the sign-out is invalid.
    await context.addCookies(cookies);
    await page.goto("/users/token");
    expect(new URL(page.url()).pathname).toBe("/users/sign_in");
    await page.goto("/");
    expect(await accountMenu(page).count()).toBe(0);
  });

  it("reveals only that the credentials are wrong", async () => {
    const { page, context } = await site.visit(options);
    for (const as of [
      { email, password: "wrong" },
      { email: "nobody@example.com", password },
    ]) {
      await page.goto("/users/sign_in");
      await signInBy(page, as);
      expect(await page.getByRole("alert").textContent()).toBe(signIn.wrong);
      expect(await page.getByLabel(signIn.email).inputValue()).toBe(as.email);
      expect(await page.getByLabel(signIn.password).inputValue()).toBe("");
      expect(await context.cookies()).toEqual([]);
    }
  });

  it("returns to the page that requires it", async () => {
    const { page } = await site.visit(options);
    await page.goto("/users/token?locale=en");
    expect(new URL(page.url()).searchParams.get("next")).toBe("/users/token?locale=en");
    await signInBy(page, { email, password });
    await page.waitForURL("/users/token?locale=en");
  });
});

describe("the return path after signing in", () => {
  it.each([
    "//evil.example",
    "/\\evil.example",
    "/\\/evil.example",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/..//evil.example",
    "/%0d%0aset-cookie:a=b",
    "\\\\evil.example",
    " //evil.example",
  ])("never leads to another site: %j", async (next) => {
    const { page } = await site.visit(byHand);
    await page.goto(`/users/sign_in?next=${encodeURIComponent(next)}`);
    await signInBy(page, { email, password });
    await accountMenu(page).or(page.getByText(en.failure.notFound)).first().waitFor();
    expect(new URL(page.url()).origin).toBe(site.baseUrl);
    const posted = await site.fetch("/users/sign_in", {
      method: "POST",
      body: new URLSearchParams({ email, password, next }),
    });
    expect(new URL(posted.headers.get("location") ?? "", `${site.baseUrl}/`).origin).toBe(site.baseUrl);
  });
});

describe("too many attempts", () => {
  const guessed = openSite();

  it("are refused for some time, even with the right password", async () => {
    const { page } = await guessed.visit();
    const headers = { "sec-fetch-site": "same-origin" };
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const body = new URLSearchParams({ email, password: `guess ${attempt}` });
      expect((await guessed.fetch("/users/sign_in", { method: "POST", headers, body })).status).toBe(401);
    }
    await page.goto("/users/sign_in");
    const answer = await answerTo(page, () => signInBy(page, { email, password }));
    expect(answer.status()).toBe(429);
    expect(Number(answer.headers()["retry-after"])).toBeGreaterThan(0);
    expect(await page.getByRole("alert").textContent()).toContain("Too many attempts");
  });
});

it("shows the password on request, and hides it again", async () => {
  const { page } = await site.visit();
  await page.goto("/users/sign_in");
  const field = page.getByLabel(signIn.password);
  await field.fill(password);
  for (const [button, type] of [
    [en.actions.show, "text"],
    [en.actions.hide, "password"],
  ] as const) {
    await page.getByRole("button", { name: button, exact: true }).click();
    expect(await field.getAttribute("type")).toBe(type);
  }
});
