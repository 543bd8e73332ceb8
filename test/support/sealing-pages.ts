import type { Page } from "playwright-core";
import { en } from "../../src/i18n/i18n.ts";
import { newPushForm } from "./browser-forms.ts";
import type { openSite } from "./site.ts";
import type { VisitOptions } from "./visit.ts";

export const tokenOf = (link: string) => new URL(link).pathname.split("/")[2] ?? "";

/** What tests do with end-to-end pushes in a browser. */
export function sealingPages(site: ReturnType<typeof openSite>) {
  async function openForm(kind: "text" | "file" = "text", options: VisitOptions = {}): Promise<Page> {
    const { page } = await site.visit(kind === "file" ? { ...options, signedIn: true } : options);
    await page.goto(`/?kind=${kind}`);
    await page.getByLabel(en.endToEnd.seal, { exact: true }).check();
    return page;
  }

  /** Sends the form and reads the link from the page that follows. */
  async function sendForLink(page: Page): Promise<string> {
    await newPushForm(page).submit.click();
    await page.waitForURL("**/preview");
    await page.locator("#link").waitFor();
    return await page.locator("#link").inputValue();
  }

  async function sealInPage(text: string, passphrase = "", options: VisitOptions = {}) {
    const page = await openForm("text", options);
    const form = newPushForm(page);
    await form.payload.fill(text);
    if (passphrase !== "") await form.passphrase.fill(passphrase);
    return { page, link: await sendForLink(page) };
  }

  async function openLink(link: string): Promise<Page> {
    const { page } = await site.visit();
    await page.goto(link);
    return page;
  }

  return { openForm, sendForLink, sealInPage, openLink };
}
