import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { startOtherServer } from "../support/other-server.ts";
import { modulesOf, modulesSeen } from "../support/qr-pixels.ts";
import { contentOf } from "../support/shared-browser.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { secret, step } = en;

async function openPush(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("button", { name: step.open }).click();
  await page.locator("#payload, #files").first().waitFor({ state: "attached" });
}

/** A picture of one pixel. */
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const manyFiles = [
  { filename: "notes.txt", data: Buffer.from("first").toString("base64") },
  { filename: "notes.txt", data: Buffer.from("second").toString("base64") },
  { filename: "ключ.txt", data: Buffer.from("third").toString("base64") },
];

describe.each([
  ["with scripts", { javaScriptEnabled: true }],
  ["without scripts", { javaScriptEnabled: false }],
])("opening %s", (_how, options) => {
  it("a url push shows the host and links to it without a referrer", async () => {
    const otherServer = await startOtherServer();
    const { page } = await site.visit({ ...options, allowedOrigins: [otherServer.origin] });
    const payload = `${otherServer.origin}/landing?a=1#part`;
    await openPush(page, (await site.push({ kind: "url", payload })).path);
    expect(await page.locator("#payload").textContent()).toBe(payload);

    await page.getByRole("link", { name: secret.follow({ host: new URL(payload).host }) }).click();
    await page.waitForURL(payload);
    expect(otherServer.requests).toMatchObject([{ url: "/landing?a=1", method: "GET" }]);
    expect(otherServer.requests[0]?.headers).not.toHaveProperty("referer");
    expect(otherServer.requests[0]?.headers).not.toHaveProperty("cookie");
  });

  it("a url push without a retrieval step redirects at once, and counts a view", async () => {
    const otherServer = await startOtherServer();
    const { page } = await site.visit({ ...options, allowedOrigins: [otherServer.origin] });
    const payload = `${otherServer.origin}/landing`;
    const push = await site.push({ kind: "url", payload, retrieval_step: false, expire_after_views: 2 }, "owned");
    await page.goto(push.path);
    expect(page.url()).toBe(payload);
    expect(otherServer.requests[0]?.headers).not.toHaveProperty("referer");
    expect(await site.ownPush(push.urlToken)).toMatchObject({ views_remaining: 1 });
  });

  it("a url push with a passphrase is shown without a redirect", async () => {
    const { page } = await site.visit(options);
    const fields = { kind: "url", payload: "https://example.com/", passphrase: "open", retrieval_step: false };
    await page.goto((await site.push(fields)).path);
    await page.getByLabel(step.passphrase, { exact: true }).fill("open");
    await page.getByRole("button", { name: step.open }).click();
    await page.getByRole("link", { name: secret.follow({ host: "example.com" }) }).waitFor();
  });

  it("a qr push shows its text as a QR code, and the text itself on request", async () => {
    const { page, context } = await site.visit({ ...options, colorScheme: "dark" });
    const payload = "WIFI:T:WPA;S:naïve 🔑;P:geheim;;";
    await openPush(page, (await site.push({ kind: "qr", payload })).path);
    const code = page.getByRole("img", { name: secret.qrLabel });
    await page.locator("[data-veil] > summary").click();
    const expected = modulesOf(payload);
    await expect.poll(() => modulesSeen(code, expected.length, context)).toEqual(expected);

    expect(await page.locator("#payload").isVisible()).toBe(false);
    await page.getByText(secret.qrText).click();
    expect(await page.locator("#payload").isVisible()).toBe(true);
    expect(await page.locator("#payload").textContent()).toBe(payload);
  });

  it("a file push lists names and sizes, and every byte is downloaded", async () => {
    const { page } = await site.visit(options);
    const bytes = Buffer.from(Uint8Array.from({ length: 200_000 }, (_, index) => (index * 31) % 256));
    const files = [
      { filename: "ключ “a” & b.bin", content_type: "application/octet-stream", data: bytes.toString("base64") },
      { filename: "empty", content_type: "text/plain", data: "" },
    ];
    const push = await site.push({ files, payload: "", expire_after_views: 1 }, "owned");
    await openPush(page, push.path);
    expect(await page.getByText(secret.lastViewFiles).isVisible()).toBe(true);
    expect(await page.getByRole("listitem").filter({ hasText: "ключ" }).textContent()).toContain("195.3\u00a0kB");
    for (const { filename, data } of files) {
      const started = page.waitForEvent("download");
      await page.getByRole("link", { name: secret.download({ filename }) }).click();
      const download = await started;
      // The browser replaces characters that its file system does not allow.
      expect(download.suggestedFilename().slice(0, 5)).toBe(filename.slice(0, 5));
      expect((await contentOf(download)).toString("base64")).toBe(data);
    }
    expect(await site.auditKinds(push.urlToken)).toEqual(["creation", "view", "download", "download"]);
  });

  it("the files of a push are downloaded as one archive, which programs extract", async () => {
    const { page } = await site.visit(options);
    const push = await site.push({ files: manyFiles, expire_after_views: 1 }, "owned");
    await openPush(page, push.path);
    const started = page.waitForEvent("download");
    await page.getByRole("link", { name: secret.downloadAll({ size: "16 bytes" }) }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe("files.zip");
    const archive = await contentOf(download);
    expect(archive.subarray(-22, -18).toString("latin1")).toBe("PK\x05\x06");
    for (const text of ["first", "second", "notes (2).txt", "ключ.txt"]) expect(archive.includes(text)).toBe(true);
    expect(await site.auditKinds(push.urlToken)).toEqual(["creation", "view", "download", "download", "download"]);
  });

  it("a picture and a text are looked at in a tab of their own, in which nothing runs", async () => {
    // The browser would style the picture by itself.
    const { page, context } = await site.visit({ ...options, expectedErrors: /Applying inline style violates/ });
    const markup = "<script>document.title = 'run'</script>";
    const files = [
      { filename: "dot.png", content_type: "image/png", data: dot },
      { filename: "page.txt", content_type: "text/plain", data: Buffer.from(markup).toString("base64") },
      { filename: "contract.pdf", content_type: "application/pdf", data: "JVBERi0xLjQK" },
    ];
    await openPush(page, (await site.push({ files }, "owned")).path);
    const look = async (filename: string) => {
      const opened = context.waitForEvent("page");
      await page.getByRole("link", { name: secret.look({ filename }) }).click();
      const tab = await opened;
      await tab.waitForLoadState();
      return tab;
    };
    const picture = await look("dot.png");
    expect(await picture.evaluate("[origin, document.images[0]?.naturalWidth]")).toEqual(["null", 1]);
    const text = await look("page.txt");
    expect(await text.evaluate("[origin, document.title, document.body.textContent]")).toEqual(["null", "", markup]);
    // Viewers of PDF do not start in a sandbox.
    expect(await page.getByRole("link", { name: secret.look({ filename: "contract.pdf" }) }).count()).toBe(0);
    expect(await page.locator("#content").isVisible()).toBe(true);
  });

  it.each([
    ["page.html", "text/html"],
    ["picture.svg", "image/svg+xml"],
    ["page.xhtml", "application/xhtml+xml"],
  ])("%s saves the file and does not show it as a page of this origin", async (filename, contentType) => {
    const { page } = await site.visit(options);
    const markup = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(document.domain)</script></svg>`;
    const files = [{ filename, content_type: contentType, data: Buffer.from(markup).toString("base64") }];
    await openPush(page, (await site.push({ files }, "owned")).path);
    const address = await page.getByRole("link", { name: secret.download({ filename }) }).getAttribute("href");
    const answer = await site.fetch(address ?? "");
    expect(answer.headers.get("content-type")).toBe("application/octet-stream");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment/);
    expect(answer.headers.get("content-security-policy")).toMatch(/sandbox/);

    // Opened as a page of its own it is a download too: the browser stays on the previous page.
    const started = page.waitForEvent("download");
    await expect(page.goto(address ?? "")).rejects.toThrow(/Download is starting/);
    expect((await contentOf(await started)).toString()).toBe(markup);
  });
});
