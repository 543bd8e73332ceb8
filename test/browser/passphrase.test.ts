import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { step, secret } = en;
const passphrase = " naïve 🔑 phrase ";

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("a passphrase %s", (_how, options) => {
  it.each(["/r", ""])("is requested before the push is opened, at the path that ends in %j", async (ending) => {
    const { page } = await site.visit(options);
    const fields = { payload: "secret", passphrase, expire_after_views: 1 };
    const { urlToken } = await site.push({ ...fields, retrieval_step: ending === "/r" }, "owned");
    await page.goto(`/p/${urlToken}${ending}`);
    expect(await page.getByText(step.leadPassphrase).isVisible()).toBe(true);

    await page.getByLabel(step.passphrase, { exact: true }).fill(passphrase.trim());
    const [refused] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === "POST"),
      page.getByRole("button", { name: step.open }).click(),
    ]);
    expect(refused.status()).toBe(401);
    await page.getByText(step.wrong).waitFor();
    const field = page.getByLabel(step.passphrase, { exact: true });
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await field.inputValue()).toBe("");
    expect(await site.ownPush(urlToken)).toMatchObject({ views_remaining: 1, expired: false });

    await field.fill(passphrase);
    await page.getByRole("button", { name: step.open }).click();
    await page.getByText(secret.lastView).waitFor();
    expect(await page.locator("#payload").textContent()).toBe("secret");
    expect(page.url()).not.toContain("phrase");
    expect(await site.auditKinds(urlToken)).toEqual(["creation", "failed_passphrase", "view"]);
  });

  it("is refused for some time after five wrong ones, without counting a view", async () => {
    const { page } = await site.visit(options);
    const { urlToken, path } = await site.push({ payload: "secret", passphrase, expire_after_views: 1 }, "owned");
    await page.goto(path);
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await page.getByLabel(step.passphrase, { exact: true }).fill(`guess ${attempt}`);
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === "POST"),
        page.getByRole("button", { name: step.open }).click(),
      ]);
      expect(answer.status()).toBe(attempt <= 5 ? 401 : 429);
      await page.waitForLoadState();
    }
    expect(await page.getByRole("alert").textContent()).toContain("Too many attempts");
    // The right one is not checked either, and the page reveals nothing about the push.
    await page.getByLabel(step.passphrase, { exact: true }).fill(passphrase);
    await page.getByRole("button", { name: step.open }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.locator("#payload").count()).toBe(0);
    expect(await site.ownPush(urlToken)).toMatchObject({ views_remaining: 1, expired: false });
  });
});

describe("the passphrase field", () => {
  it("has the focus and can be shown", async () => {
    const { page } = await site.visit();
    await page.goto((await site.push({ payload: "secret", passphrase })).path);
    const field = page.getByLabel(step.passphrase, { exact: true });
    expect(await page.evaluate("document.activeElement.id")).toBe("passphrase");
    await field.fill("phrase");
    expect(await field.getAttribute("type")).toBe("password");
    await page.getByRole("button", { name: en.actions.show }).click();
    expect(await field.getAttribute("type")).toBe("text");
    await page.getByRole("button", { name: en.actions.hide }).click();
    expect(await field.getAttribute("type")).toBe("password");
  });

  it("is not sent empty", async () => {
    const { page } = await site.visit();
    const { urlToken, path } = await site.push({ payload: "secret", passphrase }, "owned");
    await page.goto(path);
    await page.getByRole("button", { name: step.open }).click();
    expect(await page.evaluate("document.querySelector('#passphrase').validity.valueMissing")).toBe(true);
    expect(await site.auditKinds(urlToken)).toEqual(["creation"]);
  });
});
