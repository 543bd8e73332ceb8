import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeLinkKey } from "../../src/age/link-key.ts";
import { en } from "../../src/i18n/i18n.ts";
import { newPushForm } from "../support/browser-forms.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { sealingPages, tokenOf } from "../support/sealing-pages.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { openForm, sendForLink } = sealingPages(site);
const { endToEnd } = en;

describe("a name and a note sealed in the browser", () => {
  const [name, note] = ["Brücke 7", "first line\nsecond line"];

  async function sealWithLabels() {
    const page = await openForm("text", { signedIn: true });
    const form = newPushForm(page);
    await form.payload.fill("x");
    const choice = page.getByLabel(endToEnd.sealLabels, { exact: true });
    expect(await choice.isVisible()).toBe(false);
    await page.locator("details.more > summary").click();
    await page.locator("#push_name").fill(name);
    await page.locator("#push_note").fill(note);
    await choice.check();
    await expectAccessibleLayout(page);
    return { page, link: await sendForLink(page) };
  }

  it("are shown on the page with the link, and on the audit trail where its address has the key", async () => {
    const { page, link } = await sealWithLabels();
    await page.getByText(name).waitFor();
    await page.getByText("second line").waitFor();
    await expectAccessibleLayout(page);
    await page.goto(`/p/${tokenOf(link)}/audit`);
    await page.getByRole("heading", { name: endToEnd.sealedName }).waitFor();
    await page.getByText(endToEnd.labelsHint).waitFor();
    await expectAccessibleLayout(page);
    await page.goto(`/p/${tokenOf(link)}/audit#${(await makeLinkKey()).identity}`);
    await page.getByText(endToEnd.labelsFailed).waitFor();
    await page.goto(`/p/${tokenOf(link)}/audit${new URL(link).hash}`);
    await page.getByRole("heading", { name }).waitFor();
    expect(await page.locator(".whole-note").textContent()).toBe(note);
    expect(page.url()).not.toContain("#");
  });

  it("are not in lists, searches and forms, which say so, and open with the age tool", async () => {
    const { page, link } = await sealWithLabels();
    await page.goto("/p");
    await page.getByRole("link", { name: endToEnd.sealedName }).first().waitFor();
    expect(await page.getByText(name).count()).toBe(0);
    await page.goto(`/p?q=${encodeURIComponent(name)}`);
    await page.getByText(en.dashboard.sealedNotSearched).waitFor();
    await page.goto(`/p/${tokenOf(link)}/edit`);
    await page.getByText(endToEnd.labelsNotEditable).waitFor();
    expect(await page.locator("#push_name, #push_note").count()).toBe(0);
    await page.locator("#push_expire_after_views").fill("9");
    await page.getByRole("button", { name: en.edit.submit }).click();
    await page.waitForURL((url) => !url.pathname.endsWith("/edit"));
    const folder = mkdtempSync(join(tmpdir(), "sealpush-age-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const keyFile = join(folder, "key.txt");
    writeFileSync(keyFile, new URL(link).hash.slice(1));
    await page.goto(`/p/${tokenOf(link)}/audit`);
    const sealed = await page.locator("[data-sealed-label]").first().getAttribute("data-sealed-label");
    expect(execFileSync("age", ["-d", "-i", keyFile], { input: sealed ?? "" }).toString()).toBe(name);
  });

  it("that are too long once they are sealed are refused before anything is sent", async () => {
    const page = await openForm("text", { signedIn: true });
    const form = newPushForm(page);
    await form.payload.fill("x");
    await page.locator("details.more > summary").click();
    await page.locator("#push_name").fill("x".repeat(1_262));
    await page.getByLabel(endToEnd.sealLabels, { exact: true }).check();
    await form.submit.click();
    await page.getByText(endToEnd.labelsTooLong).waitFor();
    await page.locator("#push_name").fill("x".repeat(1_261));
    await sendForLink(page);
  });
});
