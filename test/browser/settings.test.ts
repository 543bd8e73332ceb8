import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { fillDays, newPushForm } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

describe("without anonymous pushes", () => {
  const site = openSite({ PWP__ALLOW_ANONYMOUS: "false" });

  it("the form needs a sign-in, and is shown after it", async () => {
    const { page } = await site.visit({ signedIn: "by hand" });
    await page.goto("/?kind=qr");
    expect(new URL(page.url()).pathname).toBe("/users/sign_in");
    await page.getByLabel(en.signIn.email).fill(email);
    await page.getByLabel(en.signIn.password).fill(password);
    await page.getByRole("button", { name: en.signIn.submit }).click();
    await page.waitForURL("/?kind=qr");
    expect(await newPushForm(page).payload.isVisible()).toBe(true);
  });

  it("a visitor without an account cannot create pushes, but can open them", async () => {
    const { page } = await site.visit();
    const body = new URLSearchParams({ "push[payload]": "secret" });
    const refused = await site.fetch("/p", { method: "POST", body });
    expect(refused.status).toBe(303);
    expect(refused.headers.get("location")).toMatch(/^\/users\/sign_in/);
    await page.goto((await site.push({ payload: "secret" }, "owned")).path);
    await page.getByRole("button", { name: en.step.open }).click();
    expect(await page.locator("#payload").textContent()).toBe("secret");
  });
});

describe("with disabled kinds and changed limits", () => {
  const site = openSite({
    PWP__ENABLE_FILE_PUSHES: "false",
    PWP__ENABLE_URL_PUSHES: "false",
    PWP__PW__EXPIRE_AFTER_DAYS_MAX: "10",
    PWP__PW__EXPIRE_AFTER_DAYS_DEFAULT: "3",
    PWP__PW__ENABLE_RETRIEVAL_STEP: "false",
    PWP__PW__DELETABLE_PUSHES_DEFAULT: "false",
  });

  it("the form offers only what is enabled", async () => {
    const { page } = await site.visit();
    await page.goto("/?kind=url");
    const tabs = page.getByRole("group", { name: en.kinds.label }).getByRole("button");
    expect(await tabs.allTextContents()).toEqual([en.kinds.text, en.kinds.qr]);
    const form = newPushForm(page);
    expect(await form.expiry.locator("option:checked").textContent()).toBe("3 days");
    expect(await form.expiry.locator("option").nth(-2).textContent()).toBe(en.newPush.otherDays);
    expect(await form.expiry.locator("option").allTextContents()).not.toContain("2 weeks");
    await fillDays(page, "10");
    expect(await page.getByText(en.newPush.range({ min: 1, max: 10 }), { exact: true }).isVisible()).toBe(true);
    expect(await form.retrievalStep.count()).toBe(0);
    expect(await form.deletable.isChecked()).toBe(false);
  });

  it("a form for a disabled kind is shown again with everything that was typed", async () => {
    const body = new URLSearchParams({ "push[kind]": "url", "push[payload]": "https://example.com/?kept" });
    const answer = await site.fetch("/p", { method: "POST", body });
    expect(answer.status).toBe(422);
    const html = await answer.text();
    expect(html).toContain("https://example.com/?kept");
  });
});

describe("with anonymous file pushes", () => {
  const site = openSite({ PWP__FILES__ALLOW_ANONYMOUS: "true" });

  it("a visitor without an account can send files", async () => {
    const { page } = await site.visit();
    await page.goto("/?kind=file");
    const form = newPushForm(page);
    await form.files.setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("content") });
    await form.submit.click();
    await page.getByRole("heading", { name: en.created.heading }).waitFor();
  });
});
