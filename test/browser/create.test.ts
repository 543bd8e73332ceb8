import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, fillDays, kindTab, newPushForm, pathOf, urlTokenOf } from "../support/browser-forms.ts";
import { messagesIn } from "../support/messages.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const de = messagesIn("de");
const typed = "\n \tКлюч 🔑\u00a0שלום  \n\n-----BEGIN KEY-----\nabc==\n\n";

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("creating a push %s", (_how, options) => {
  it("delivers a text exactly as it was typed", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill(typed);
    await form.views.fill("3");
    await fillDays(page, "2");
    const link = await createLink(page);

    expect(new URL(page.url()).pathname).toBe(`/p/${urlTokenOf(link)}/preview`);
    const answer = await site.fetch(`/api/v2/pushes/${urlTokenOf(link)}`);
    expect(await answer.json()).toMatchObject({
      payload: typed,
      kind: "text",
      expire_after_views: 3,
      expire_after_days: 2,
      retrieval_step: true,
      deletable_by_viewer: true,
    });
  });

  it("sends unchecked boxes as false", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("secret");
    await form.more.click();
    await form.retrievalStep.uncheck();
    await form.deletable.uncheck();
    const link = await createLink(page);

    expect(pathOf(link)).toBe(`/p/${urlTokenOf(link)}`);
    const answer = await site.fetch(`/api/v2/pushes/${urlTokenOf(link)}`);
    expect(await answer.json()).toMatchObject({ retrieval_step: false, deletable_by_viewer: false });
  });

  it("creates pushes of URLs and of texts for QR codes", async () => {
    const { page } = await site.visit(options);
    for (const [tab, kind, payload] of [
      [en.kinds.url, "url", "https://example.com/a?b=c#d"],
      [en.kinds.qr, "qr", "WIFI:T:WPA;S:naïve;P:geheim;;"],
    ] as const) {
      await page.goto("/");
      await kindTab(page, tab).click();
      await page.locator(`[name='push[kind]'][value=${kind}]`).waitFor({ state: "attached" });
      await newPushForm(page).payload.fill(payload);
      const answer = await site.fetch(`/api/v2/pushes/${urlTokenOf(await createLink(page))}`);
      expect(await answer.json()).toMatchObject({ kind, payload });
    }
  });

  it("sends files of a signed-in user, with labels for the dashboard", async () => {
    const { page } = await site.visit({ ...options, signedIn: true });
    await page.goto("/?kind=file");
    const form = newPushForm(page);
    const bytes = Buffer.from(Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
    await form.files.setInputFiles([
      { name: "ключ & co.bin", mimeType: "application/octet-stream", buffer: bytes },
      { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) },
    ]);
    if (options.javaScriptEnabled) {
      expect(
        await page.getByRole("list", { name: en.newPush.filesChosen }).getByRole("listitem").allTextContents(),
      ).toEqual(["ключ & co.bin68.4\u00a0kB", "empty.txt0\u00a0bytes"]);
    }
    await form.payload.fill("read me");
    await form.more.click();
    await form.name.fill("for Bob");
    await form.note.fill("two\nlines");
    const urlToken = urlTokenOf(await createLink(page));

    expect(await site.ownPush(urlToken)).toMatchObject({ kind: "file", name: "for Bob", note: "two\nlines" });
    const answer = await site.fetch(`/api/v2/pushes/${urlToken}`);
    const { payload, files } = await answer.json();
    expect(payload).toBe("read me");
    expect(files.map(({ filename }: { filename: string }) => filename)).toEqual(["ключ & co.bin", "empty.txt"]);
    const download = await site.fetch(pathOf(files[0].url));
    expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it("requires a sign-in before choosing files, and returns to the form", async () => {
    const { page } = await site.visit(options);
    await page.goto("/?kind=file");
    await page.getByRole("main").getByRole("link", { name: en.nav.signIn }).click();
    await page.waitForURL("/users/sign_in?next=%2F%3Fkind%3Dfile");
    expect(await page.getByLabel(en.signIn.email).isVisible()).toBe(true);
  });

  it("keeps the requested language through the form", async () => {
    const { page } = await site.visit(options);
    await page.goto("/?locale=de");
    const form = newPushForm(page, de);
    await form.payload.fill("geheim");
    await form.submit.click();
    await page.getByRole("heading", { name: de.created.heading }).waitFor();
    expect(new URL(page.url()).searchParams.get("locale")).toBe("de");
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
  });
});
