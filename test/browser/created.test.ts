import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy, createLink, newPushForm, pathOf, unfold, urlTokenOf } from "../support/browser-forms.ts";
import { messagesIn } from "../support/messages.ts";
import { modulesOf, modulesSeen } from "../support/qr-pixels.ts";
import { contentOf } from "../support/shared-browser.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const ar = messagesIn("ar");
const { created } = en;

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("the page of a new link %s", (_how, options) => {
  it("shows the limits of the push, and counts no view", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("secret");
    await form.views.fill("2");
    await form.passphrase.fill("open sesame");
    const link = await createLink(page);

    const facts = page.getByRole("region", { name: created.next });
    for (const fact of [created.opens({ count: 2 }), created.stepDeletable, created.passphrase]) {
      expect(await facts.getByText(fact).isVisible()).toBe(true);
    }
    const message = await page.getByLabel(created.message).inputValue();
    expect(message.split("\n")).toContain(link);
    expect(message).toContain(created.messagePassphrase);
    expect(message).not.toContain("sesame");

    await page.reload();
    await page.goto(pathOf(link));
    expect(await page.getByText(en.step.viewsLeft({ count: 2 })).isVisible()).toBe(true);
  });

  it("shows the link as a QR code that a camera can read", async () => {
    const { page, context } = await site.visit({ ...options, colorScheme: "dark" });
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const link = await createLink(page);
    await unfold(page, created.showQr);
    await page.getByText("Sealpush", { exact: true }).last().waitFor();
    const expected = modulesOf(link);
    expect(await modulesSeen(page.getByRole("img", { name: created.qr }), expected.length, context)).toEqual(expected);
  });

  it("writes link and message in the recipient's language", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const plain = await createLink(page);
    await unfold(page, created.showMessage);
    await page.getByLabel(created.recipientLanguage).selectOption("ar");
    if (!options.javaScriptEnabled) await page.getByRole("button", { name: created.apply }).click();
    await page.waitForURL(/recipient=ar/);

    const link = await page.getByLabel(created.link, { exact: true }).inputValue();
    expect(link).toBe(`${plain}?locale=ar`);
    const message = page.getByLabel(created.message);
    expect(await message.inputValue()).toContain(`${ar.created.messageIntro}\n\n${link}\n\n`);
    expect(await message.getAttribute("dir")).toBe("rtl");
    const mail = new URL((await page.getByRole("link", { name: created.writeEmail }).getAttribute("href")) ?? "");
    expect(mail.searchParams.get("subject")).toBe(ar.created.messageSubject);
    expect(mail.searchParams.get("body")).toContain(`\r\n\r\n${link}\r\n\r\n`);
    await page.goto(pathOf(link));
    await page.getByRole("heading", { name: ar.step.heading }).waitFor();
    await page.getByRole("button", { name: ar.step.open }).click();
    await page.getByRole("heading", { name: ar.secret.text }).waitFor();
  });

  it("saves the QR code of the link in the chosen language", async () => {
    const { page } = await site.visit(options);
    const { urlToken } = await site.push({ payload: "secret" });
    await page.goto(`/p/${urlToken}/preview?recipient=de`);
    await unfold(page, created.showQr);
    for (const [format, start] of [
      ["SVG", "<svg"],
      ["PNG", "\x89PNG"],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: created.saveCode({ format }) }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`qr-code.${format.toLowerCase()}`);
      expect((await contentOf(download)).toString("latin1").startsWith(start)).toBe(true);
    }
  });

  it("prints an own sentence, the link and the QR code, with or without the limits, and nothing else", async () => {
    const { page } = await site.visit({ ...options, signedIn: true });
    const { urlToken } = await site.push({ payload: "secret", expire_after_views: 3 }, "owned");
    await page.goto(`/p/${urlToken}/preview`);
    const link = await page.getByLabel(created.link, { exact: true }).inputValue();
    const sentence = page.getByLabel(created.printText);
    expect(await sentence.inputValue()).toBe(created.messageIntro);
    await unfold(page, created.showPrint);
    await sentence.fill("Your access for the first day:");
    await page.emulateMedia({ media: "print" });
    const limits = page.locator(".limits-printed").getByText(created.messageViews({ count: 3 }));
    const printed = [
      sentence,
      page.locator(".link-printed").getByText(link),
      page.getByRole("img", { name: created.qr }),
      page.locator("figcaption").getByText("Sealpush"),
      limits,
    ];
    const tops = [];
    for (const element of printed) tops.push((await element.boundingBox())?.y ?? -1);
    expect(tops).toEqual([...tops].sort((one, other) => one - other));
    expect(tops).not.toContain(-1);
    const hidden = ["button", "navigation", "combobox", "checkbox", "heading", "link"] as const;
    for (const role of hidden) {
      const site = role === "link" ? page.locator("main").getByRole(role) : page.getByRole(role);
      for (const element of await site.all()) expect(await element.isVisible()).toBe(false);
    }
    expect(await page.getByLabel(created.message).isVisible()).toBe(false);

    await page.emulateMedia({ media: "screen" });
    await page.getByLabel(created.printLimits).uncheck();
    await page.emulateMedia({ media: "print" });
    expect([await sentence.isVisible(), await limits.isVisible()]).toEqual([true, false]);
  });

  it("links to the form for another push of the kind", async () => {
    const { page } = await site.visit(options);
    const { urlToken } = await site.push({ payload: "https://example.com", kind: "url" });
    await page.goto(`/p/${urlToken}/preview`);
    await page.getByRole("link", { name: created.another }).click();
    await page.waitForURL("/?kind=url");
    expect(await newPushForm(page).payload.inputValue()).toBe("");
  });

  it("tells the owner whether it was opened, and leads to trail and edit form", async () => {
    const { page } = await site.visit({ ...options, signedIn: true });
    const { urlToken } = await site.push({ payload: "secret", expire_after_views: 2 }, "owned");
    await page.goto(`/p/${urlToken}/preview`);
    expect(await page.getByText(created.notOpened).isVisible()).toBe(true);
    await site.fetch(`/api/v2/pushes/${urlToken}`);
    await page.reload();
    expect(
      await page.getByText(`${created.openedTimes({ count: 1 })} ${created.opensAgain({ count: 1 })}`).isVisible(),
    ).toBe(true);
    const section = page.getByRole("region", { name: en.dashboard.state });
    expect(await section.getByRole("link", { name: en.dashboard.edit }).getAttribute("href")).toBe(
      `/p/${urlToken}/edit`,
    );
    await section.getByRole("link", { name: en.dashboard.audit }).click();
    await page.waitForURL(`/p/${urlToken}/audit`);
    await site.fetch(`/api/v2/pushes/${urlToken}`);
    await page.goto(`/p/${urlToken}/preview`);
    await page.waitForURL(`/p/${urlToken}/audit`);
  });

  it("deletes the push after a confirmation", async () => {
    const { page } = await site.visit(options);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const link = await createLink(page);
    await page.locator("summary").filter({ hasText: created.delete }).click();
    await page.getByRole("button", { name: en.secret.deleteConfirm }).click();
    await page.getByRole("heading", { name: en.deleted.heading }).waitFor();
    expect((await page.goto(pathOf(link)))?.status()).toBe(404);
    expect((await page.goto(`/p/${urlTokenOf(link)}/preview`))?.status()).toBe(404);
  });
});

describe("the page of an owner's new link", () => {
  it("fits one screen, in few words, until something is unfolded", async () => {
    const { page } = await site.visit({ signedIn: true, viewport: { width: 1280, height: 800 } });
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    await createLink(page);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(800);
    const words = (await page.locator("main").innerText()).split(/\s+/).filter((word) => word !== "");
    expect(words.length).toBeLessThanOrEqual(70);
    for (const panel of [page.locator("#message"), page.locator("#print_text"), page.locator("#qr_code")]) {
      expect(await panel.isVisible()).toBe(false);
    }
  });
});

describe("the scripts of the page of a new link", () => {
  it("keep the owner's sentence current, also when it was opened for the last time", async () => {
    const { page } = await site.visit({ signedIn: true });
    const { urlToken } = await site.push({ payload: "secret", expire_after_views: 2 }, "owned");
    await page.clock.install();
    await page.goto(`/p/${urlToken}/preview`);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    // Otherwise the clock also goes on by itself.
    await page.clock.pauseAt(Date.now() + 5_000);
    for (const text of [
      `${created.openedTimes({ count: 1 })} ${created.opensAgain({ count: 1 })}`,
      `${created.openedTimes({ count: 2 })} ${created.opensNoMore}`,
    ]) {
      await site.fetch(`/api/v2/pushes/${urlToken}`);
      await page.clock.runFor(10_000);
      await page.getByRole("status").filter({ hasText: text }).waitFor();
    }
    expect(asked).toEqual(Array(2).fill(`/p/${urlToken}/preview/opened`));
    await page.clock.runFor(60_000);
    expect(asked).toHaveLength(2);
  });

  it("ask for nothing while the page is hidden, and end after half an hour", async () => {
    const { page, context } = await site.visit({ signedIn: true });
    const { urlToken } = await site.push({ payload: "secret" }, "owned");
    await context.addInitScript(`window.asked = 0; window.fetch = async () => {
      window.asked += 1;
      return Response.json({ text: "not yet", final: false });
    }`);
    await page.clock.install();
    await page.goto(`/p/${urlToken}/preview`);
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })");
    await page.clock.runFor(60_000);
    expect(await page.evaluate("window.asked")).toBe(0);
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: false })");
    await page.clock.runFor(60 * 60_000);
    expect(await page.evaluate("window.asked")).toBe(180);
  });

  it("keep what was typed when the language changes, with the new link", async () => {
    const { page } = await site.visit();
    const { urlToken } = await site.push({ payload: "secret" });
    await page.goto(`/p/${urlToken}/preview`);
    await unfold(page, created.showMessage);
    const link = page.getByLabel(created.link, { exact: true });
    const plain = await link.inputValue();
    const message = page.getByLabel(created.message);
    await message.fill(`Hello Jo\n${plain}\nBye`);
    const language = page.getByLabel(created.recipientLanguage);
    await language.focus();
    await language.selectOption("de");
    await page.waitForURL(/recipient=de/);
    const typed = `Hello Jo\n${plain}?locale=de\nBye`;
    expect(await message.inputValue()).toBe(typed);
    const mail = page.getByRole("link", { name: created.writeEmail });
    const body = new URL((await mail.getAttribute("href")) ?? "").searchParams.get("body");
    expect(body).toBe(typed.replaceAll("\n", "\r\n"));
    expect(await page.getByLabel(created.printText).inputValue()).toBe(messagesIn("de").created.messageIntro);
    expect(await language.evaluate((each) => each === document.activeElement)).toBe(true);
    await language.selectOption("");
    await page.waitForURL((url) => !url.search.includes("recipient"));
    expect(await link.inputValue()).toBe(plain);
  });

  it("share the message where the browser can", async () => {
    const { page, context } = await site.visit();
    await context.addInitScript("navigator.share = async (data) => { window.shared = data; }");
    const { urlToken } = await site.push({ payload: "secret" });
    await page.goto(`/p/${urlToken}/preview`);
    await unfold(page, created.showMessage);
    await page.getByLabel(created.message).fill("my own words");
    await page.getByRole("button", { name: created.share }).click();
    expect(await page.evaluate("window.shared")).toEqual({ text: "my own words" });
  });

  it("copy link and message, and say so", async () => {
    const { page, context } = await site.visit();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    const link = await createLink(page);
    await unfold(page, created.showMessage);
    for (const [button, expected] of [
      [created.copyLink, link],
      [created.copyMessage, await page.getByLabel(created.message).inputValue()],
    ] as const) {
      await copyBy(page, () => page.getByRole("button", { name: button }).click());
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(expected);
    }
  });

  it("print on request", async () => {
    const { page, context } = await site.visit();
    await context.addInitScript("window.print = () => { window.printed = true; }");
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    await createLink(page);
    await unfold(page, created.showPrint);
    await page.getByRole("button", { name: created.print, exact: true }).click();
    expect(await page.evaluate("window.printed")).toBe(true);
  });

  it("write dates in the format of the browser's locale, with and without the script", async () => {
    for (const [locale, date] of [
      ["en-GB", /\d{1,2} \p{L}+ \d{4}/u],
      ["en-US", /\p{L}+ \d{1,2}, \d{4}/u],
    ] as const) {
      const { page } = await site.visit({ locale });
      await page.goto("/");
      await newPushForm(page).payload.fill("secret");
      await createLink(page);
      const time = page.getByRole("region", { name: created.next }).getByRole("time");
      expect(await time.getAttribute("title")).toMatch(date);
      expect(await page.getByLabel(created.message).inputValue()).toMatch(date);
    }
  });

  it("show one time zone: how long the link works, and in the message until when", async () => {
    const { page } = await site.visit({ timezoneId: "Asia/Tokyo" });
    await page.goto("/");
    await newPushForm(page).payload.fill("secret");
    await createLink(page);
    const time = page.getByRole("region", { name: created.next }).getByRole("time");
    expect(await time.textContent()).toBe("in 7 days");
    expect(await time.getAttribute("title")).toContain("GMT+9");
    expect(await page.getByLabel(created.message).inputValue()).toContain("UTC");
  });
});
