import { join } from "node:path";
import { makeLinkKey } from "@sealpush/age/link-key";
import { openText } from "@sealpush/age/open";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { newPushForm } from "../support/browser-forms.ts";
import { makeFolder } from "../support/folders.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { environmentOf, startObjectStore } from "../support/s3/object-store.ts";
import { sealingPages, tokenOf } from "../support/sealing-pages.ts";
import { startServer } from "../support/server.ts";
import { contentOf } from "../support/shared-browser.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { openForm, sendForLink } = sealingPages(site);
const { endToEnd } = en;

describe("where sealing is the default", () => {
  const strict = openSite({ PWP__SEAL_IN_BROWSER_DEFAULT: "true" });

  it("a text is sealed unless its sender chooses otherwise", async () => {
    const { page } = await strict.visit({ leavesAnyway: true });
    for (const isSealed of [true, false]) {
      await page.goto("/");
      const box = page.getByLabel(endToEnd.seal, { exact: true });
      expect(await box.isChecked()).toBe(true);
      await box.setChecked(isSealed);
      await newPushForm(page).payload.fill("plain");
      const link = await sendForLink(page);
      const { payload } = await (await strict.fetch(`/api/v2/pushes/${tokenOf(link)}`)).json();
      if (isSealed) expect(payload).toMatch(/^-----BEGIN AGE/);
      else expect(payload).toBe("plain");
    }
  });

  it.each(["without JavaScript", "when its script does not load"])(
    "nothing is sent unsealed unasked %s",
    async (how) => {
      const isScripted = how !== "without JavaScript";
      const expectedErrors = /ERR_FAILED|422/;
      const { page } = await strict.visit(isScripted ? { expectedErrors } : { javaScriptEnabled: false });
      await page.route(/\/assets\/new-push-/, (route) => route.abort());
      await page.goto("/");
      await newPushForm(page).payload.fill("plain");
      await newPushForm(page).submit.click();
      await page.getByText(endToEnd.unsealedRefused).waitFor();
      expect(await newPushForm(page).payload.inputValue()).toBe("plain");
      if (isScripted) await expectAccessibleLayout(page);
      await page.getByLabel(endToEnd.unsealed).check();
      await newPushForm(page).submit.click();
      await page.waitForURL("**/preview");
    },
  );

  it("the form asks before it is sent without JavaScript", async () => {
    const { page } = await strict.visit({ javaScriptEnabled: false });
    await page.goto("/");
    await newPushForm(page).payload.fill("plain");
    await page.getByLabel(endToEnd.unsealed).last().check();
    await newPushForm(page).submit.click();
    await page.waitForURL("**/preview");
  });

  it("an address is sent as ever", async () => {
    const { page } = await strict.visit({ javaScriptEnabled: false });
    await page.goto("/?kind=url");
    await newPushForm(page).payload.fill("https://example.com");
    await newPushForm(page).submit.click();
    await page.waitForURL("**/preview");
  });
});

describe("a name and a note sealed in the browser", () => {
  const [name, note] = ["Brücke 7", "first line\nsecond line"];

  async function sealWithLabels() {
    const page = await openForm("text", { signedIn: true, leavesAnyway: true });
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

  it("are not in lists, searches and forms, which say so, and open with the key of the link", async () => {
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
    await page.goto(`/p/${tokenOf(link)}/audit`);
    const sealed = await page.locator("[data-sealed-label]").first().getAttribute("data-sealed-label");
    expect(await openText(sealed ?? "", new URL(link).hash.slice(1), "")).toBe(
      `{"sealpush":1,"is":"name","text":"${name}"}`,
    );
  });

  it("that are too long once they are sealed are refused before anything is sent", async () => {
    const page = await openForm("text", { signedIn: true });
    const form = newPushForm(page);
    await form.payload.fill("x");
    await page.locator("details.more > summary").click();
    await page.locator("#push_name").fill("x".repeat(1_226));
    await page.getByLabel(endToEnd.sealLabels, { exact: true }).check();
    await form.submit.click();
    await page.getByText(endToEnd.labelsTooLong).waitFor();
    await page.locator("#push_name").fill("x".repeat(1_225));
    await sendForLink(page);
  });
});

it.each([
  ["while they are sent, and", true],
  ["as a whole before the form is sent, where uploads are refused, and also", false],
])("files in an object store are sealed %s open from there", async (_how, takesUploads) => {
  const store = await startObjectStore();
  const environment = { ...environmentOf(store), PWP__FILES__ALLOW_ANONYMOUS: "true" };
  const server = await startServer({ dataDir: join(makeFolder(), "data"), environment });
  // The browser of this site's tests reports requests to other servers.
  const elsewhere = { expectedErrors: new RegExp(`^asked ${server.baseUrl}/`) };
  const { page } = await site.visit(elsewhere);
  if (!takesUploads) await page.route("**/uploads", (route) => route.fulfill({ status: 405 }));
  await page.goto(`${server.baseUrl}/?kind=file`);
  await page.getByLabel(endToEnd.seal, { exact: true }).check();
  const content = Buffer.alloc(6_000_000, "0123456789abcdef");
  await newPushForm(page).files.setInputFiles([
    { name: "large.bin", mimeType: "application/octet-stream", buffer: content },
    { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("geheim") },
  ]);
  const link = await sendForLink(page);
  expect(store.objects.size).toBe(2);
  const { page: recipient } = await site.visit(elsewhere);
  await recipient.addInitScript("delete window.showSaveFilePicker");
  await recipient.goto(link);
  await recipient.getByRole("button", { name: en.step.open }).click();
  await recipient.getByRole("button", { name: endToEnd.look({ filename: "note.txt" }) }).click();
  await recipient.getByText("geheim").waitFor();
  const download = recipient.waitForEvent("download");
  await recipient.getByRole("link", { name: en.secret.download({ filename: "large.bin" }) }).click();
  expect((await contentOf(await download)).equals(content)).toBe(true);
});
