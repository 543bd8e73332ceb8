import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, fillDays, kindTab, newPushForm, urlTokenOf } from "../support/browser-forms.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { kinds, newPush } = en;

const shows = (page: Page, kind: string) =>
  page.locator(`[name='push[kind]'][value=${kind}]`).waitFor({ state: "attached" });
const answerTo = async (link: string) => (await site.fetch(`/api/v2/pushes/${urlTokenOf(link)}`)).json();

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("switching the kind of a push %s", (_how, options) => {
  it("keeps everything that was typed and creates nothing", async () => {
    const { page } = await site.visit({ ...options, signedIn: true });
    await page.goto("/");
    const form = newPushForm(page);
    const typed = '\n\thttps://example.com/?a="1"&b \n';
    await form.payload.fill(typed);
    await form.views.fill("9");
    await fillDays(page, "10");
    await form.passphrase.fill(" phrase ");
    await form.more.click();
    await form.deletable.uncheck();
    await form.name.fill("VPN");
    await kindTab(page, kinds.qr).click();
    await shows(page, "qr");

    expect(await page.getByLabel(newPush.payload.qr).inputValue()).toBe(typed);
    expect(await form.views.inputValue()).toBe("9");
    expect(await form.expiry.inputValue()).toBe("");
    expect(await form.days.inputValue()).toBe("10");
    expect(await form.passphrase.inputValue()).toBe(" phrase ");
    expect(await form.deletable.isChecked()).toBe(false);
    expect(await form.name.inputValue()).toBe("VPN");
    expect(await page.locator(".tab[aria-current]").textContent()).toBe(kinds.qr);
    const urlToken = urlTokenOf(await createLink(page));
    expect(await site.ownPush(urlToken)).toMatchObject({
      kind: "qr",
      name: "VPN",
      expire_after_views: 9,
      expire_after_days: 10,
      deletable_by_viewer: false,
    });
    expect(await (await site.fetch(`/api/v2/pushes/${urlToken}?passphrase=%20phrase%20`)).json()).toMatchObject({
      payload: typed,
    });
  });

  it("starts with the defaults of the kind where nothing was changed", async () => {
    const { page } = await site.visit({ ...options, signedIn: true });
    await page.goto("/");
    expect(await newPushForm(page).deletable.isChecked()).toBe(true);
    await kindTab(page, kinds.url).click();
    await shows(page, "url");
    if (options.javaScriptEnabled) expect(await newPushForm(page).deletable.isChecked()).toBe(false);
    await newPushForm(page).payload.fill("https://example.com/");
    expect(await answerTo(await createLink(page))).toMatchObject({ kind: "url", payload: "https://example.com/" });
  });

  it("leads to the sign-in where files need an account, and back to what was typed", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    await kindTab(page, kinds.file).click();
    await shows(page, "file");
    await page.getByText(newPush.filesSignInHeading).waitFor();
    await newPushForm(page).submit.waitFor({ state: "hidden" });
    if (!options.javaScriptEnabled) return;
    await page.keyboard.press("Control+Enter");
    await kindTab(page, kinds.text).click();
    expect(await newPushForm(page).payload.inputValue()).toBe("secret");
    expect(await answerTo(await createLink(page))).toMatchObject({ payload: "secret" });
  });

  it("is not done by Enter in a field, which creates the push", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    await newPushForm(page).passphrase.press("Enter");
    await page.getByRole("heading", { name: en.created.heading }).waitFor();
  });
});

describe("with scripts", () => {
  it("the page is not left: the chosen files, line ends and the focus stay", async () => {
    const { page } = await site.visit({ signedIn: true });
    await page.goto("/?kind=file");
    const form = newPushForm(page);
    await form.files.setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("in a") });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));

    await kindTab(page, kinds.text).click();
    expect(await page.evaluate("document.activeElement.id")).toBe("push_payload");
    await page.keyboard.type("two\nlines");
    await kindTab(page, kinds.url).click();
    expect(new URL(page.url()).search).toBe("?kind=url");
    expect(await form.payload.inputValue()).toBe("twolines");
    await kindTab(page, kinds.file).click();
    expect(await page.getByLabel(newPush.payload.file).inputValue()).toBe("two\nlines");
    expect(await page.getByRole("list", { name: newPush.filesChosen }).textContent()).toContain("a.txt");
    expect(requests).toEqual([]);

    const { payload, files } = await answerTo(await createLink(page));
    expect([payload, files.length]).toEqual(["two\nlines", 1]);
  });

  it("the line of the options follows the kind, and the counter its limit", async () => {
    const { page } = await site.visit({ signedIn: true });
    await page.goto("/");
    await kindTab(page, kinds.url).click();
    expect(await page.locator(".more-set > :visible").allTextContents()).toEqual([
      newPush.set.retrievalStep,
      newPush.set.sender,
    ]);
    await kindTab(page, kinds.qr).click();
    await newPushForm(page).payload.fill("a".repeat(1_025));
    await page.getByText(en.problems.overLimit).waitFor();
    await kindTab(page, kinds.text).click();
    expect(await page.getByText(en.problems.overLimit).count()).toBe(0);
    expect(await newPushForm(page).payload.inputValue()).toBe("a".repeat(1_025));
  });
});

it("without scripts, chosen files are asked for again", async () => {
  const { page } = await site.visit({ signedIn: true, javaScriptEnabled: false });
  await page.goto("/?kind=file");
  const file = { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("in a") };
  await newPushForm(page).files.setInputFiles(file);
  await kindTab(page, kinds.text).click();
  await shows(page, "text");
  await kindTab(page, kinds.file).click();
  await shows(page, "file");
  await newPushForm(page).files.setInputFiles(file);
  await kindTab(page, kinds.file).click();
  expect(await page.locator("#push_files_problem").textContent()).toBe(newPush.filesAgain);
});
