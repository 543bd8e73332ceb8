import { describe, expect, it } from "vitest";
import { en } from "../../src/words/en.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { tokens } = en;

const statusWith = async (token: string) =>
  (await site.fetch("/api/v2/pushes/active", { headers: { authorization: `Bearer ${token}` } })).status;

describe.each([
  ["with scripts", { signedIn: true, javaScriptEnabled: true } as const],
  ["without scripts", { signedIn: true, javaScriptEnabled: false } as const],
])("API tokens %s", (_how, options) => {
  it("are shown once, work, and are refused as soon as they are revoked", async () => {
    const { page } = await site.visit(options);
    const name = `backup ${options.javaScriptEnabled}`;
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill(name);
    await page.getByRole("button", { name: tokens.submit }).click();
    await page.getByRole("heading", { name: tokens.made }).waitFor();
    const token = await page.locator("#token").inputValue();
    expect(await statusWith(token)).toBe(200);

    await page.goto("/users/token");
    expect(await page.content()).not.toContain(token);
    const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name, exact: true }) });
    expect(await row.getByText(tokens.active).isVisible()).toBe(true);
    await row.locator("summary").click();
    await row.getByRole("button", { name: tokens.revokeConfirm }).click();
    await row.getByText(tokens.revoked).waitFor();
    expect(await row.locator("summary").count()).toBe(0);
    expect(await statusWith(token)).toBe(401);
  });

  it("need a name, and the form says so", async () => {
    const { page } = await site.visit(options);
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill("   ");
    await page.getByRole("button", { name: tokens.submit }).click();
    const problem = page.getByText(en.problems.tokenName({ max: 255 }));
    await problem.waitFor();
    expect(await page.locator("#name").getAttribute("aria-describedby")).toContain("name_problem");
  });
});

describe("the tokens page", () => {
  it("copies a new token", async () => {
    const { page, context } = await site.visit({ signedIn: true });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill("copied");
    await page.getByRole("button", { name: tokens.submit }).click();
    await page.getByRole("button", { name: tokens.copyToken }).click();
    await page.getByRole("status").filter({ hasText: en.actions.copied }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(await page.locator("#token").inputValue());
  });

  it("is for nobody who has not signed in", async () => {
    const { page } = await site.visit();
    await page.goto("/users/token");
    expect(new URL(page.url()).pathname).toBe("/users/sign_in");
    expect((await site.fetch("/users/token", { method: "POST" })).status).toBe(303);
    expect((await site.fetch("/users/token/1/revoke", { method: "POST" })).status).toBe(303);
  });
});
