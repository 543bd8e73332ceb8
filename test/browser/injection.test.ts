import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, newPushForm, urlTokenOf } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

// A visit fails when a dialog opens, a script is refused or another origin is requested.
const site = openSite();
const hostile = [
  `"><script>alert(1)</script>'"><img src=x onerror=alert(1)><svg onload=alert(1)>`,
  `</textarea></pre></title><script src="https://evil.example/x.js"></script><link rel=stylesheet href=//evil.example>`,
  `{{constructor.constructor('alert(1)')()}}\${alert(1)}\u2028\u2029<!--`,
  `javascript:alert(1)//<base href="https://evil.example/"><style>@import "https://evil.example/x.css";</style>`,
];

/** Triggers injected event handlers, if any: reloads the page and uses its controls. */
async function provoke(page: Page): Promise<void> {
  await page.waitForLoadState("load");
  expect(await page.locator("[onerror], [onload], base, style, script:not([src^='/assets/'])").count()).toBe(0);
  // By keyboard: an opened confirmation covers the rows below it.
  for (const summary of await page.locator("main summary:visible").all()) await summary.press("Enter");
}

const withoutLineEnds = (text: string) => text.replaceAll(/[\u2028\u2029]/g, "");

async function signedIn() {
  const { page } = await site.visit({ signedIn: true });
  return page;
}

describe.each(hostile)("markup in typed text: %j", (text) => {
  it("stays text in a form that is shown again, and on the page of the link", async () => {
    const page = await signedIn();
    await page.goto("/");
    await page.evaluate("document.forms[1].noValidate = true");
    const form = newPushForm(page);
    await form.more.click();
    for (const field of [form.payload, form.passphrase, form.name, form.note]) await field.fill(text);
    await form.views.fill("1000");
    await form.submit.click();
    await page.getByRole("alert").waitFor();
    for (const field of [form.payload, form.passphrase, form.name, form.note]) {
      expect(await field.inputValue()).toBe(text);
    }
    await provoke(page);
    await form.views.fill("2");
    const urlToken = urlTokenOf(await createLink(page));
    await provoke(page);
    expect(await site.ownPush(urlToken)).toMatchObject({ name: text, note: text });
  });

  it("stays text in every kind of opened push", async () => {
    const { page } = await site.visit();
    const url = `https://example.com/?q=${encodeURIComponent(text)}#${text.replaceAll(/[\s\p{C}]/gu, "")}`;
    const files = [{ filename: `${text}.html`, content_type: "text/html", data: "PGI+" }];
    for (const push of [
      await site.push({ payload: text }),
      await site.push({ kind: "qr", payload: text }),
      await site.push({ kind: "url", payload: url }),
      await site.push({ payload: text, files }, "owned"),
    ]) {
      await page.goto(push.path);
      await page.getByRole("button", { name: en.step.open }).click();
      const payload = page.locator("#payload");
      await payload.waitFor({ state: "attached" });
      expect([text, url]).toContain(await payload.textContent());
      await provoke(page);
    }
    // Only folders and line ends are removed from a file name.
    const name = await page.locator("#files a[download] bdi").textContent();
    expect(withoutLineEnds(`${text}.html`).endsWith(name ?? "none")).toBe(true);
  });

  it("stays text in the name of an API token", async () => {
    const page = await signedIn();
    await page.goto("/users/token");
    // A name has no line ends: api-tokens.test.ts.
    const name = withoutLineEnds(text);
    await page.locator("#name").fill(name);
    await page.getByRole("button", { name: en.tokens.submit }).click();
    await page.getByRole("heading", { name: en.tokens.made }).waitFor();
    expect(await page.locator(".token-name").allTextContents()).toContain(name);
    await provoke(page);
    await page.goto("/users/token");
    await provoke(page);
  });

  it("stays text in an email address and a return path", async () => {
    const { page } = await site.visit();
    await page.goto(`/users/sign_in?next=/${encodeURIComponent(text)}`);
    await page.evaluate("email.type = 'text'; email.form.noValidate = true;");
    await page.locator("#email").fill(text);
    await page.locator("#password").fill("wrong");
    await page.getByRole("button", { name: en.signIn.submit }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.locator("#email").getAttribute("value")).toBe(text);
    await provoke(page);
  });

  it("stays text in URLs, languages and user agents", async () => {
    const printable = text.replaceAll(/[^\x20-\x7e]/g, "");
    const { page } = await site.visit({ userAgent: printable });
    const query = encodeURIComponent(text);
    const { urlToken } = await site.push({ payload: "secret" });
    for (const path of [
      `/?kind=${query}`,
      `/?locale=${query}`,
      `/${query}`,
      `/p/${query}`,
      `/p/${query}/r`,
      `/p/${urlToken}/preview?recipient=${query}`,
      `/p/${urlToken}/r?locale=${query}`,
      `/help/api?${query}`,
    ]) {
      await page.goto(path);
      await provoke(page);
    }
  });
});
