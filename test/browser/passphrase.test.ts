import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { answerTo } from "../support/browser-forms.ts";
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
    const refused = await answerTo(page, () => page.getByRole("button", { name: step.open }).click());
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
      const answer = await answerTo(page, () => page.getByRole("button", { name: step.open }).click());
      expect(answer.status()).toBe(attempt <= 5 ? 401 : 429);
    }
    expect(await page.getByRole("alert").textContent()).toContain("Too many attempts");
    // The right one is not checked either, and the page reveals nothing about the push.
    await page.getByLabel(step.passphrase, { exact: true }).fill(passphrase);
    const again = await answerTo(page, () =>
      page.locator("#open").evaluate((form) => (form as HTMLFormElement).submit()),
    );
    expect(again.status()).toBe(429);
    await page.getByRole("alert").waitFor();
    expect(await page.locator("#payload").count()).toBe(0);
    expect(await site.ownPush(urlToken)).toMatchObject({ views_remaining: 1, expired: false });
  });
});

it("the button of a refused form counts down and works again", async () => {
  const { page } = await site.visit();
  const { urlToken, path } = await site.push({ payload: "secret", passphrase });
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await site.fetch(`/p/${urlToken}/r`, { method: "POST", body: new URLSearchParams({ passphrase: "guess" }) });
  }
  await page.clock.install();
  await page.goto(path);
  await page.getByLabel(step.passphrase, { exact: true }).fill("guess");
  await page.getByRole("button", { name: step.open }).click();
  const button = page.getByRole("button", { name: step.open });
  // A script disables it, after the answer is shown.
  await button.and(page.locator(":disabled")).waitFor();
  const left = async () => Number((await page.getByRole("timer").textContent())?.replace("0:", ""));
  await page.clock.pauseAt(Date.now() + 5_000);
  const before = await left();
  await page.clock.fastForward(2_000);
  expect(await left()).toBe(before - 2);
  await page.getByLabel(step.passphrase, { exact: true }).fill("kept");
  await page.clock.fastForward(60_000);
  await page.getByRole("alert").getByText(en.problems.waitOver).waitFor();
  expect(await button.isEnabled()).toBe(true);
  expect(await page.getByRole("timer").count()).toBe(0);
  expect(await page.getByLabel(step.passphrase, { exact: true }).inputValue()).toBe("kept");
});

describe("the passphrase field", () => {
  it("has the focus and can be shown", async () => {
    const { page } = await site.visit();
    await page.goto((await site.push({ payload: "secret", passphrase })).path);
    const field = page.getByLabel(step.passphrase, { exact: true });
    expect(await page.evaluate("document.activeElement.id")).toBe("passphrase");
    await field.fill("phrase");
    expect(await field.getAttribute("type")).toBe("password");
    const eye = page.getByRole("button", { name: en.actions.show });
    const [outer, inner] = [await field.boundingBox(), await eye.boundingBox()];
    if (outer === null || inner === null) throw new Error("The field or its eye is not shown.");
    expect(inner.x).toBeGreaterThan(outer.x);
    expect(inner.x + inner.width).toBeLessThanOrEqual(outer.x + outer.width);
    expect(inner.y + inner.height).toBeLessThanOrEqual(outer.y + outer.height);
    await eye.click();
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
