import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { makeFolder } from "../support/folders.ts";
import { openSite } from "../support/site.ts";
import { email, password } from "../support/visit.ts";

/** The path from the environment, e.g. `/usr/bin/firefox-esr` of Debian's package. undefined: no tests in Firefox. */
const program = process.env.SEALPUSH_TEST_FIREFOX || undefined;

/** Far longer than anything needs: only a failing test waits this long. */
const waitMsMax = 120_000;

/**
 * After Back, Firefox itself asks for /favicon.ico, whatever icon the page names. The policy refuses it, because images come from the
 * addresses of assets and the theme only; the page keeps the icon that it names.
 */
const refusedFavicon = /\(img-src\) at http:\/\/127\.0\.0\.1:\d+\/favicon\.ico /;

/** The main flows; Chromium has the tests of every detail. */
describe.runIf(program !== undefined)("in Firefox", () => {
  const site = openSite();
  let firefox: Browser;
  beforeAll(async () => {
    firefox = await launch({ browser: "firefox", executablePath: program ?? "", headless: true, timeout: waitMsMax });
  });
  afterAll(() => firefox.close());

  /** A new profile. Errors in the page's console, such as refusals by its content security policy, fail the test. */
  async function visit(): Promise<Page> {
    const context = await firefox.createBrowserContext();
    const page = await context.newPage();
    page.setDefaultTimeout(waitMsMax);
    const found: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") found.push(message.text());
    });
    page.on("pageerror", (error) => found.push(String(error)));
    onTestFinished(async () => {
      await context.close();
      expect(found.filter((text) => !refusedFavicon.test(text))).toEqual([]);
    });
    return page;
  }

  const goto = (page: Page, path: string) => page.goto(new URL(path, site.baseUrl).href);

  async function submit(page: Page, form: string): Promise<void> {
    await Promise.all([page.waitForNavigation(), page.locator(`main ${form} button[type=submit]`).click()]);
  }

  /** The answer takes the place of the page. */
  async function open(page: Page, form: string, shown: string): Promise<void> {
    await Promise.all([page.waitForSelector(shown), page.locator(`main ${form} button[type=submit]`).click()]);
  }

  async function signIn(page: Page): Promise<void> {
    await page.locator("input[name=email]").fill(email);
    await page.locator("input[name=password]").fill(password);
    await submit(page, "form");
  }

  const textOf = (page: Page, selector: string) => page.$eval(selector, (element) => element.textContent);

  it("a text is created, and opened behind a passphrase", async () => {
    const page = await visit();
    await goto(page, "/");
    await page.locator("#push_payload").fill("Ключ 🔑\n second line");
    await page.locator("details.more > summary").click();
    await page.locator("#push_passphrase").fill("phrase");
    await submit(page, "form");
    expect(page.url()).toMatch(/\/preview$/);
    const link = await page.$eval("input[readonly]", (input) => input.getAttribute("value"));

    const recipient = await visit();
    await goto(recipient, new URL(String(link)).pathname);
    await recipient.locator("#passphrase").fill("wrong");
    await open(recipient, "form", "#passphrase_problem");
    expect(await textOf(recipient, "main")).toContain(en.step.wrong);
    await recipient.locator("#passphrase").fill("phrase");
    await open(recipient, "form", "[data-veil] > summary");
    await recipient.locator("[data-veil] > summary").click();
    expect(await textOf(recipient, "#payload")).toBe("Ключ 🔑\n second line");
  });

  it("somebody signs in, and the list has the push that they created", async () => {
    const page = await visit();
    await goto(page, "/p");
    await signIn(page);
    expect(new URL(page.url()).pathname).toBe("/p");
    await goto(page, "/");
    await page.locator("#push_payload").fill("secret");
    await submit(page, "form");
    const token = /\/p\/([^/]+)\/preview/.exec(page.url())?.[1] ?? "";
    await goto(page, "/p");
    expect(await page.$$eval("main a", (links) => links.map((link) => link.getAttribute("href")))).toContain(
      `/p/${token}/preview`,
    );
    expect(await site.auditKinds(token)).toEqual(["creation"]);
  });

  it.each(["", "phrase"])("a text is sealed and opened (passphrase: %j)", async (passphrase) => {
    const page = await visit();
    await goto(page, "/");
    await page.locator("#push_seal").click();
    await page.locator("#push_payload").fill("Ключ 🔑\n second line");
    if (passphrase !== "") {
      await page.locator("details.more > summary").click();
      await page.locator("#push_passphrase").fill(passphrase);
    }
    const recipient = await visit();
    await recipient.goto(await sendSealed(page));
    await open(
      recipient,
      "[data-sealed-step] form",
      passphrase === "" ? "[data-veil] > summary" : "#sealed_passphrase",
    );
    if (passphrase !== "") {
      await recipient.locator("#sealed_passphrase").fill(passphrase);
      await recipient.locator("[data-sealed-passphrase] button[type=submit]").click();
    }
    await recipient.locator("[data-veil] > summary").click();
    expect(await textOf(recipient, "#payload")).toBe("Ключ 🔑\n second line");
  });

  it("files are sealed, looked at and saved as one archive", async () => {
    const page = await visit();
    await goto(page, "/p");
    await signIn(page);
    await goto(page, "/?kind=file");
    await page.locator("#push_seal").click();
    const folder = makeFolder();
    const paths = ["geheim.txt", "zwei.txt"].map((name) => join(folder, name));
    for (const path of paths) writeFileSync(path, "Ключ 🔑");
    const field = await page.$("input[type=file]");
    await field?.uploadFile(...paths);
    const recipient = await visit();
    await recipient.goto(await sendSealed(page));
    await open(recipient, "[data-sealed-step] form", "[data-sealed-file] button");
    await recipient.locator("[data-sealed-file] button").click();
    await recipient.waitForSelector("[data-looked] > pre");
    expect(await textOf(recipient, "[data-looked] > pre")).toBe("Ключ 🔑");
    await recipient.locator("[data-save-all] button").click();
    await recipient.waitForSelector("[data-save-all] [role=status]:not(:empty)");
    const saved = en.endToEnd.saved({ filename: "files.zip" });
    await recipient.locator(`::-p-text(${saved})`).wait();
  });

  /** Sends the form. @returns the whole link. */
  async function sendSealed(page: Page): Promise<string> {
    await submit(page, "form");
    await page.waitForSelector("#link", { visible: true });
    return await page.$eval("#link", (field) => (field as HTMLInputElement).value);
  }

  const sendWithoutScripts = (page: Page) =>
    Promise.all([
      page.waitForNavigation(),
      // Fires no event, so that the form's script does not send it.
      page.$eval("form[data-keeps-typed]", (form) => (form as HTMLFormElement).submit()),
    ]);

  const limited = openSite({ PWP__THROTTLING__MINUTE: "100" });

  it("the Back button shows what was typed in a form that was sent without scripts and refused for too many requests", async () => {
    const page = await visit();
    await page.goto(new URL("/", limited.baseUrl).href);
    await page.locator("#push_payload").fill("typed");
    for (let status = 0; status !== 429; ) ({ status } = await limited.fetch("/"));
    await sendWithoutScripts(page);
    expect(await textOf(page, "main")).toContain(en.failure.goBack);
    await page.evaluate(() => history.back());
    await page.waitForSelector("#push_payload");
    expect(await page.$eval("#push_payload", (field) => (field as HTMLTextAreaElement).value)).toBe("typed");
  });

  const full = openSite({ PWP__DISK__FREE_MIN_BYTES: "1000TiB" });

  it.each([true, false])("so does it after a full disk has refused the form, with scripts: %s", async (hasScripts) => {
    const page = await visit();
    await page.goto(new URL("/", full.baseUrl).href);
    await page.locator("#push_payload").fill("typed");
    if (hasScripts) {
      await page.locator("[data-sends-by-keys]").click();
      await page.locator(`::-p-text(${en.failure.unavailableText})`).wait();
      await page.goto(new URL("/about", full.baseUrl).href);
    } else {
      await sendWithoutScripts(page);
      expect(await textOf(page, "main")).toContain(en.failure.unavailableText);
    }
    await page.evaluate(() => history.back());
    await page.waitForFunction(() => location.pathname === "/" && document.querySelector("#push_payload") !== null);
    expect(await page.$eval("#push_payload", (field) => (field as HTMLTextAreaElement).value)).toBe("typed");
  });
});
