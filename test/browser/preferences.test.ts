import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { newPushForm } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const scheme = "document.querySelector('meta[name=color-scheme]').content";

describe("preferences of a browser", () => {
  it("remembers that the text is hidden while typing, and never the text", async () => {
    const { page } = await site.visit();
    await page.goto("/");
    const hide = page.getByRole("button", { name: en.newPush.hidePayload });
    await newPushForm(page).payload.fill("hunter2");
    expect(await hide.getAttribute("aria-pressed")).toBe("false");
    await hide.click();
    expect(await page.evaluate("JSON.stringify({ ...localStorage })")).toBe('{"sealpush_payload_hidden":"true"}');
    await page.goto("/");
    expect(await hide.getAttribute("aria-pressed")).toBe("true");
    await hide.click();
    expect(await page.evaluate("localStorage.length")).toBe(0);
  });

  it("adopts the choices that Password Pusher stored, once", async () => {
    const { page } = await site.visit({ signedIn: "by hand" });
    await page.goto("/");
    await page.evaluate("localStorage.setItem('theme', 'dark'), localStorage.setItem('pwpush_payload_hidden', 'true')");
    await Promise.all([page.waitForRequest((request) => request.method() === "POST"), page.reload()]);
    await page.waitForFunction(`${scheme} === "dark"`);
    expect(await page.evaluate("JSON.stringify({ ...localStorage })")).toBe('{"sealpush_payload_hidden":"true"}');
    await page.getByRole("button", { name: en.footer.themes.light, exact: true }).click();
    await page.waitForFunction(`${scheme} === "light"`);
  });
});
