import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { tokens } = en;

const statusWith = async (token: string) =>
  (await site.fetch("/api/v2/pushes/active", { headers: { authorization: `Bearer ${token}` } })).status;

describe.each([
  ["with scripts", { signedIn: true, javaScriptEnabled: true } as const],
  ["without scripts", { signedIn: true, javaScriptEnabled: false } as const],
])("API tokens %s", (_how, options) => {
  it("are shown once, authenticate, and are refused as soon as they are revoked", async () => {
    const { page } = await site.visit(options);
    const name = `backup ${options.javaScriptEnabled}`;
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill(name);
    await page.getByLabel(tokens.mayRead, { exact: true }).check();
    await page.getByRole("button", { name: tokens.submit }).click();
    await page.getByRole("heading", { name: tokens.made }).waitFor();
    const token = await page.locator("#token").inputValue();
    expect(await statusWith(token)).toBe(200);

    await page.goto("/users/token");
    expect(await page.content()).not.toContain(token);
    const row = page.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
    expect(await row.getByText(tokens.active).isVisible()).toBe(true);
    await row.locator("summary").click();
    await row.getByRole("button", { name: tokens.revokeConfirm }).click();
    await row.locator(".badge").getByText(tokens.revoked).waitFor();
    expect(await row.locator("summary").count()).toBe(0);
    expect(await statusWith(token)).toBe(401);
  });

  it("need a name, and the form says so", async () => {
    const { page } = await site.visit(options);
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill("   ");
    await page.getByRole("button", { name: tokens.submit }).click();
    await page
      .locator("#name_problem")
      .getByText(tokens.problems.name({ max: 255 }))
      .waitFor();
    expect(await page.locator("#name").getAttribute("aria-describedby")).toContain("name_problem");
  });

  it("are limited by the form to scopes, a lifetime and networks", async () => {
    const { page } = await site.visit(options);
    const name = `limited ${options.javaScriptEnabled}`;
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill(name);
    await page.getByLabel(tokens.mayExpire, { exact: true }).check();
    await page.getByLabel(tokens.expires, { exact: true }).selectOption("30");
    await page.getByLabel(tokens.networks, { exact: true }).fill("127.0.0.0/8, ::1\nten");
    await page.getByRole("button", { name: tokens.submit }).click();
    await page
      .locator("#networks_problem")
      .getByText(tokens.problems.network({ entry: "ten" }))
      .waitFor();
    expect(await page.getByLabel(tokens.mayRead, { exact: true }).isChecked()).toBe(false);
    expect(await page.getByLabel(tokens.expires, { exact: true }).inputValue()).toBe("30");
    expect(await page.getByLabel(tokens.networks, { exact: true }).inputValue()).toBe("127.0.0.0/8, ::1\nten");

    await page.getByLabel(tokens.networks, { exact: true }).fill("127.0.0.0/8 ::1");
    await page.getByRole("button", { name: tokens.submit }).click();
    const token = await page.locator("#token").inputValue();
    expect(await statusWith(token)).toBe(403);
    const row = page.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
    expect(await row.getByRole("listitem").allTextContents()).toEqual([
      tokens.mayCreate,
      tokens.mayExpire,
      "127.0.0.0/8",
      "::1",
    ]);
    await page.goto("/users/token");
    await row.getByText("from 127.0.0.1").waitFor();
  });

  it("may only create pushes, for 90 days, if nothing else is chosen", async () => {
    const { page } = await site.visit(options);
    const name = `default ${options.javaScriptEnabled}`;
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill(name);
    await page.getByRole("button", { name: tokens.submit }).click();
    const token = await page.locator("#token").inputValue();
    expect(await statusWith(token)).toBe(403);
    const row = page.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
    expect(await row.getByRole("listitem").allTextContents()).toEqual([tokens.mayCreate]);
    const times = await row.locator("time").all();
    const [createdAt, expiresAt] = await Promise.all(times.map((time) => time.getAttribute("datetime")));
    expect(Date.parse(expiresAt ?? "") - Date.parse(createdAt ?? "")).toBe(90 * 86_400_000);
  });

  it("need at least one scope", async () => {
    const { page } = await site.visit(options);
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill("nothing");
    for (const label of [tokens.mayCreate, tokens.mayRead, tokens.mayExpire]) {
      await page.getByLabel(label, { exact: true }).uncheck();
    }
    await page.getByRole("button", { name: tokens.submit }).click();
    await page.locator("#scopes_problem").getByText(tokens.problems.mayDo).waitFor();
    expect(await page.getByText("nothing", { exact: true }).count()).toBe(0);
  });
});

describe("the tokens page", () => {
  it("copies a new token", async () => {
    const { page, context } = await site.visit({ signedIn: true });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/users/token");
    await page.getByLabel(tokens.name, { exact: true }).fill("copied");
    await page.getByRole("button", { name: tokens.submit }).click();
    await page.locator("#token").waitFor();
    await copyBy(page, () => page.getByRole("button", { name: tokens.copyToken }).click());
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(await page.locator("#token").inputValue());
  });

  it.each([
    [1280, 64],
    [390, 152],
  ])("has rows that are low at %i pixels", async (width, heightMax) => {
    const { page } = await site.visit({ signedIn: true, viewport: { width, height: 800 } });
    await page.goto("/users/token");
    const rows = await page.getByRole("row").all();
    expect(rows.length).toBeGreaterThan(1);
    const heights = await Promise.all(rows.map(async (row) => (await row.boundingBox())?.height ?? 0));
    expect(heights.filter((height) => height > heightMax)).toEqual([]);
  });

  it("requires a sign-in", async () => {
    const { page } = await site.visit();
    await page.goto("/api_tokens");
    expect(new URL(page.url()).pathname).toBe("/users/sign_in");
    expect(new URL(page.url()).searchParams.get("next")).toBe("/users/token");
    expect((await site.fetch("/users/token", { method: "POST" })).status).toBe(303);
    expect((await site.fetch("/users/token/1/revoke", { method: "POST" })).status).toBe(303);
  });
});
