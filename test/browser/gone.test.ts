import { describe, expect, it } from "vitest";
import { dayMs, minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { startTestApp } from "../support/app.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { gone, step, secret } = en;
const previewPaths = (urlToken: string) => [`/p/${urlToken}`, `/p/${urlToken}/r`, `/p/${urlToken}/preview`];

async function bytesAt(path: string, init?: RequestInit): Promise<string> {
  const answer = await site.fetch(path, init);
  expect(answer.status).toBe(404);
  return await answer.text();
}

describe("the page of a push that is gone", () => {
  it("is identical byte for byte for pushes ended for any reason and for unknown pushes", async () => {
    const opened = await site.push({ payload: "secret", expire_after_views: 1 });
    await site.fetch(`/api/v2/pushes/${opened.urlToken}`);
    const deleted = await site.push({ payload: "secret", deletable_by_viewer: true });
    await site.fetch(`/api/v2/pushes/${deleted.urlToken}`, { method: "DELETE" });
    const owned = await site.push({ payload: "secret", expire_after_views: 1, passphrase: "phrase" }, "owned");
    await site.fetch(`/p/${owned.urlToken}/r`, { method: "POST", body: new URLSearchParams({ passphrase: "phrase" }) });
    const unknown = await bytesAt("/p/nothingwaseverbehindthislink");
    for (const urlToken of [
      opened.urlToken,
      deleted.urlToken,
      owned.urlToken,
      "unknown",
      "not%20a%20token",
      "%3Cb%3E",
    ]) {
      for (const path of previewPaths(urlToken)) expect(await bytesAt(path)).toBe(unknown);
      expect(await bytesAt(`/p/${urlToken}/r`, { method: "POST", body: new URLSearchParams() })).toBe(unknown);
    }
    expect(unknown).toContain(gone.heading);
  });

  it("is identical after the expiry time, before and after the sweep", async () => {
    await using app = await startTestApp();
    const made = await app.server.inject({
      method: "POST",
      url: "/api/v2/pushes",
      payload: { push: { payload: "secret", expire_after_days: 1 } },
    });
    const { url_token: urlToken } = made.json();
    const pageOf = async (token: string) => {
      const { statusCode, body } = await app.server.inject(`/p/${token}/r`);
      return { statusCode, body };
    };
    expect((await pageOf(urlToken)).statusCode).toBe(200);
    app.clock.advance(dayMs);
    expect(await pageOf(urlToken)).toEqual(await pageOf("unknown"));
    expect(await pageOf(urlToken)).toMatchObject({ statusCode: 404 });
  });

  it.each([
    ["with scripts", { javaScriptEnabled: true }],
    ["without scripts", { javaScriptEnabled: false }],
  ])("shows what to do, and no error %s", async (_how, options) => {
    const { page } = await site.visit(options);
    expect((await page.goto("/p/unknown"))?.status()).toBe(404);
    expect(await page.getByRole("heading", { name: gone.heading }).isVisible()).toBe(true);
    expect(await page.getByText(gone.advice).isVisible()).toBe(true);
  });
});

describe("an opened secret", () => {
  it.each([true, false])(
    "is shown again, and said so, when its page is reloaded within a minute, and is gone afterwards (scripts: %s)",
    async (javaScriptEnabled) => {
      await using app = await startTestApp();
      const baseUrl = await app.server.listen({ host: "127.0.0.1", port: 0 });
      const fields = { payload: "canary", expire_after_views: 1, retrieval_step: true };
      const made = await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push: fields } });
      const { page } = await site.visit({ javaScriptEnabled, allowedOrigins: [baseUrl] });
      await page.goto(`${baseUrl}/p/${made.json().url_token}/r`);
      await page.getByRole("button", { name: step.open }).click();
      await page.getByText(secret.lastView).waitFor();
      expect(await page.getByText(secret.lastViewAgain).count()).toBe(0);
      await page.reload();
      await page.getByText(secret.lastViewAgain).waitFor();
      expect(await page.locator(".facts-line, .notice").allInnerTexts()).toEqual([secret.lastViewAgain]);
      expect(await page.locator("#payload").textContent()).toBe("canary");
      app.clock.advance(minuteMs);
      await page.reload();
      await page.getByRole("heading", { name: gone.heading }).waitFor();
      expect(await page.content()).not.toContain("canary");
    },
  );

  it.each([true, false])("is not shown after going back or reloading (scripts: %s)", async (javaScriptEnabled) => {
    const { page } = await site.visit({ javaScriptEnabled });
    const { urlToken, path } = await site.push({ payload: "canary", expire_after_views: 1 }, "owned");
    await page.goto(path);
    await page.getByRole("button", { name: step.open }).click();
    await page.getByText(secret.lastView).waitFor();
    await page.goto("/");
    if (javaScriptEnabled) await page.goBack();
    else {
      // The answer to a form is not cached, and the browser asks before it sends a form again.
      await expect(page.goBack()).rejects.toThrow("ERR_CACHE_MISS");
      await page.waitForURL("chrome-error://chromewebdata/");
      await page.goto(path);
    }
    await page.getByRole("heading", { name: gone.heading }).waitFor();
    expect(await page.content()).not.toContain("canary");
    expect(await site.ownPush(urlToken)).toMatchObject({ expired: true });
  });

  it("is removed from a page that the browser keeps in memory, and coming back requests the page again", async () => {
    const { page } = await site.visit();
    const { path } = await site.push({ payload: "canary", expire_after_views: 5 });
    await page.goto(path);
    await page.getByRole("button", { name: step.open }).click();
    await page.locator("#payload").waitFor({ state: "attached" });
    await page.waitForLoadState();
    // A browser under remote control keeps no pages in memory: the test dispatches its events.
    const happens = (event: string) =>
      page.evaluate(`void dispatchEvent(new PageTransitionEvent("${event}", { persisted: true }))`);
    await happens("pagehide");
    expect(await page.content()).not.toContain("canary");
    await happens("pageshow");
    await page.getByRole("heading", { name: step.heading }).waitFor();
  });

  it("that a GET opened is not shown from a cache: going back counts another view and shows it", async () => {
    const { page } = await site.visit();
    const fields = { payload: "canary", retrieval_step: false, expire_after_views: 5 };
    const { urlToken, path } = await site.push(fields, "owned");
    const views = async () => (await site.auditKinds(urlToken)).filter((kind) => kind === "view").length;
    await page.goto(path);
    await page.goto("/");
    await page.goBack();
    // The browser has requested the page again, and each request is a counted view.
    expect(await page.locator("#payload").textContent()).toBe("canary");
    expect(await page.getByText(secret.viewsLeft({ count: 5 - (await views()) })).isVisible()).toBe(true);
    await page.reload();
    expect(await views()).toBe(3);
  });
});

describe("requests that are not made for a person", () => {
  it.each([
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X) AppleWebKit (KHTML, like Gecko) TelegramBot (like TwitterBot)",
    "Mozilla/5.0 (compatible; Barracuda Link Protect)",
  ])("are answered with a neutral page if the user agent is a robot: %s", async (userAgent) => {
    const { page } = await site.visit({ userAgent });
    const fields = { payload: "canary", retrieval_step: false, expire_after_views: 1 };
    const { urlToken } = await site.push(fields, "owned");
    for (const path of [`/p/${urlToken}`, `/p/${urlToken}/r`, "/p/unknown"]) {
      expect((await page.goto(path))?.status()).toBe(200);
      expect(await page.getByRole("heading", { name: en.robot.heading }).isVisible()).toBe(true);
      expect(await page.content()).not.toContain("canary");
    }
    const pressed = await site.fetch(`/p/${urlToken}/r`, { method: "POST", headers: { "user-agent": userAgent } });
    expect(await pressed.text()).not.toContain("canary");
    expect(await site.ownPush(urlToken)).toMatchObject({ views_remaining: 1, expired: false });
    expect(await site.auditKinds(urlToken)).toEqual(["creation"]);
  });

  it("count no view if the browser prefetches the link", async () => {
    const { page } = await site.visit({ expectedErrors: /503/ });
    const { urlToken } = await site.push({ payload: "canary", retrieval_step: false, expire_after_views: 1 }, "owned");
    await page.goto("/");
    const prefetched = page.waitForResponse((response) => response.url().endsWith(urlToken));
    await page.evaluate(`(() => {
      const link = document.createElement("link");
      link.rel = "prefetch";
      link.href = "/p/${urlToken}";
      document.head.append(link);
    })()`);
    expect((await prefetched).status()).toBe(503);
    expect(await site.auditKinds(urlToken)).toEqual(["creation"]);
    await page.goto(`/p/${urlToken}`);
    expect(await page.locator("#payload").textContent()).toBe("canary");
  });
});
