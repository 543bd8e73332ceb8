import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { sealingPages } from "../support/sealing-pages.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { deleted, edit, gone, step, secret } = en;
const { sealInPage } = sealingPages(site);

const openButton = (page: Page) => page.getByRole("button", { name: step.open });
const views = async (urlToken: string) => (await site.auditKinds(urlToken)).filter((kind) => kind === "view").length;
const openedNote = (page: Page) => page.getByText(/^You opened this at \d\d:\d\d\.$/);

async function openPush(fields: Readonly<Record<string, unknown>> = {}, visit: { expectedErrors?: RegExp } = {}) {
  const push = await site.push({ payload: "canary", expire_after_views: 5, ...fields }, "owned");
  const { page } = await site.visit(visit);
  await page.goto("/");
  await page.goto(push.path);
  expect(await openedNote(page).isVisible()).toBe(false);
  await openButton(page).click();
  await expectShown(page);
  return { page, ...push };
}

async function expectShown(page: Page): Promise<void> {
  await page.getByText(secret.reveal).first().waitFor();
  expect(await page.locator("#payload").textContent()).toBe("canary");
}

/** As after the time in which the server repeats its answer. */
const passRetryTime = (page: Page) =>
  page.evaluate(() => {
    for (const name of Object.keys(sessionStorage)) {
      const opening = JSON.parse(sessionStorage.getItem(name) ?? "");
      sessionStorage.setItem(name, JSON.stringify({ ...opening, repeatsUntil: 0 }));
    }
  });

describe("a secret that was opened in place of its step", () => {
  it("is behind the step in the history, which says when it was opened, and is repeated without another view", async () => {
    const { page, path, urlToken } = await openPush();
    expect(new URL(page.url()).pathname).toBe(path);
    await page.goto("/");
    await page.goBack();
    await page.getByRole("heading", { name: step.heading }).waitFor();
    await openedNote(page).waitFor();
    expect(await page.content()).not.toContain("canary");
    expect(await page.getByText(step.openingCounts).isVisible()).toBe(false);
    await openButton(page).click();
    await page.getByText(secret.repeated).waitFor();
    await expectShown(page);
    expect(await views(urlToken)).toBe(1);
    await page.goBack();
    await page.waitForURL(`${site.baseUrl}/`);
  });

  it("is shown again when it is reloaded, and says after a while that opening it is another view", async () => {
    const { page, urlToken } = await openPush();
    await page.reload();
    await page.getByText(secret.repeated).waitFor();
    await expectShown(page);
    expect(await views(urlToken)).toBe(1);
    await passRetryTime(page);
    await page.reload();
    await openedNote(page).waitFor();
    await page.getByText(step.openingCounts).waitFor();
    expect(await page.content()).not.toContain("canary");
    expect(await views(urlToken)).toBe(1);
    await openButton(page).click();
    await expectShown(page);
    expect(await views(urlToken)).toBe(2);
  });

  it("is opened by nobody if the script does not load after a reload, and repeated once it does", async () => {
    const { page, urlToken } = await openPush({}, { expectedErrors: /ERR_FAILED|open-in-place/ });
    await page.route("**/assets/open-in-place-*", (route) => route.abort());
    const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("open-in-place"));
    await page.reload();
    await failed;
    await openButton(page).waitFor();
    await page.unroute("**/assets/open-in-place-*");
    expect(await views(urlToken)).toBe(1);
    await openButton(page).click();
    await page.getByText(secret.repeated).waitFor();
    await expectShown(page);
    expect(await views(urlToken)).toBe(1);
  });

  it("is shown again after its last view, by a reload or a button, for the time of repeats", async () => {
    const { page, urlToken } = await openPush({ expire_after_views: 1 });
    await page.reload();
    await page.getByText(secret.lastViewAgain).waitFor();
    await page.goto("/");
    await page.goBack();
    await page.getByRole("heading", { name: gone.heading }).waitFor();
    await openedNote(page).waitFor();
    await page.getByRole("button", { name: step.showAgain }).click();
    await page.getByText(secret.lastViewAgain).waitFor();
    await expectShown(page);
    expect(await views(urlToken)).toBe(1);
    await passRetryTime(page);
    await page.reload();
    await openedNote(page).waitFor();
    expect(await page.getByRole("button", { name: step.showAgain }).isVisible()).toBe(false);
    expect(await page.content()).not.toContain("canary");
  });

  it("is not offered again after its reader deleted it", async () => {
    const { page, path } = await openPush({ deletable_by_viewer: true });
    await page.getByText(secret.more).click();
    await page.getByText(secret.delete, { exact: true }).click();
    await page.getByRole("button", { name: secret.deleteConfirm }).click();
    await page.getByRole("heading", { name: deleted.heading }).waitFor();
    await page.goto(path);
    await page.getByRole("heading", { name: gone.heading }).waitFor();
    expect(await page.getByRole("button", { name: step.showAgain }).isVisible()).toBe(false);
    expect(await openedNote(page).isVisible()).toBe(false);
  });

  it("is not offered again after somebody else deleted it", async () => {
    const { page, path, urlToken } = await openPush({ deletable_by_viewer: true }, { expectedErrors: /404/ });
    expect((await site.fetch(`/api/v2/pushes/${urlToken}`, { method: "DELETE" })).status).toBe(200);
    const repetition = page.waitForResponse((answer) => answer.request().method() === "POST");
    await page.reload();
    await (await repetition).finished();
    await page.goto(path);
    await openedNote(page).waitFor();
    expect(await page.getByRole("button", { name: step.showAgain }).isVisible()).toBe(false);
  });

  it("asks before it uses another view if its content was edited, and then opens", async () => {
    const { page, path, urlToken } = await openPush({}, { expectedErrors: /422/ });
    const { page: owner } = await site.visit({ signedIn: true });
    await owner.goto(`/p/${urlToken}/edit`);
    await owner.getByLabel(edit.newContent.text, { exact: true }).fill("the new content");
    await owner.getByRole("button", { name: edit.submit }).click();
    await owner.waitForURL(/preview$/);
    await page.goto("/");
    await page.goto(path);
    await openButton(page).click();
    await page.getByText(step.used).waitFor();
    await openButton(page).click();
    await page.getByText(secret.reveal).first().waitFor();
    expect(await page.locator("#payload").textContent()).toBe("the new content");
    expect(await views(urlToken)).toBe(2);
  });

  it("counts one view if its answer was lost, also when the page was reloaded in between", async () => {
    for (const reloads of [false, true]) {
      const { urlToken, path } = await site.push({ payload: "canary", expire_after_views: 5 }, "owned");
      const { page } = await site.visit({ expectedErrors: /ERR_FAILED/ });
      await page.goto(path);
      await page.route(`**${path}`, async (route) => {
        if (route.request().method() !== "POST") return await route.fallback();
        await route.fetch();
        await route.abort();
      });
      await openButton(page).click();
      await page.getByText(step.unanswered).waitFor();
      await page.unroute(`**${path}`);
      if (reloads) await page.reload();
      await openButton(page).click();
      await page.getByText(secret.repeated).waitFor();
      await expectShown(page);
      expect(await views(urlToken)).toBe(1);
    }
  });

  it("says that no answer came if the browser is offline, and opens when it is back", async () => {
    const push = await site.push({ payload: "canary", expire_after_views: 1 }, "owned");
    const { page } = await site.visit({ expectedErrors: /ERR_INTERNET_DISCONNECTED|open-in-place/ });
    await page.goto(push.path);
    await page.context().setOffline(true);
    await openButton(page).click();
    await page.getByText(step.unanswered).waitFor();
    await page.context().setOffline(false);
    await openButton(page).click();
    await expectShown(page);
    expect(await views(push.urlToken)).toBe(1);
  });

  it("asks for its passphrase in place too, and again when it is reloaded", async () => {
    const { urlToken, path } = await site.push({ payload: "canary", passphrase: "phrase" }, "owned");
    const { page } = await site.visit();
    await page.goto(path);
    const field = page.getByLabel(step.passphrase, { exact: true });
    await field.fill("wrong");
    await openButton(page).click();
    await page.getByText(step.wrong).first().waitFor();
    await field.fill("phrase");
    await openButton(page).click();
    await expectShown(page);
    await page.reload();
    await openedNote(page).waitFor();
    await field.fill("phrase");
    await openButton(page).click();
    await page.getByText(secret.repeated).waitFor();
    expect((await site.auditKinds(urlToken)).filter((kind) => kind === "view")).toHaveLength(1);
  });

  it("opens with the key in the address, which the step keeps", async () => {
    const { link } = await sealInPage("canary");
    const { page } = await site.visit();
    await page.goto(link);
    await openButton(page).click();
    await expectShown(page);
    expect(page.url()).toBe(link);
    await page.goto("/");
    await page.goBack();
    await openedNote(page).waitFor();
    await openButton(page).click();
    await page.getByText(secret.repeated).waitFor();
    await expectShown(page);
    // As from a browser that keeps pages in memory, where an address with a key is not requested by going to it again.
    const happens = (event: string) =>
      page.evaluate(`void dispatchEvent(new PageTransitionEvent("${event}", { persisted: true }))`);
    await happens("pagehide");
    expect(await page.content()).not.toContain("canary");
    await happens("pageshow");
    await expectShown(page);
  });
});
