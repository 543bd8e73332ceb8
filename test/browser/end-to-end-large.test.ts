import { closeSync, openSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { launchBrowser } from "../support/browser.ts";
import { newPushForm } from "../support/browser-forms.ts";
import { makeFolder } from "../support/folders.ts";
import { sealingPages } from "../support/sealing-pages.ts";
import { openSite } from "../support/site.ts";

const isOn = Boolean(process.env.SEALPUSH_TEST_LARGE_FILE);
const fileBytes = 512 * 1024 ** 2;
/**
 * A page without a file takes 120 to 200 MiB of it, most of them the program, and one that passes on a file 230 to 260, whether
 * that has 512 MiB or 1 GiB. One that also keeps a third of this file takes 390.
 */
const memoryBytesMax = 350 * 1024 ** 2;

describe.runIf(isOn)("a file of 512 MiB", () => {
  // The memory of its processes is measured, and a file of this size would be copied to a browser that is shared.
  const site = openSite({}, launchBrowser);

  it("is sealed, sent, opened and saved in bounded memory", { timeout: 600_000 }, async () => {
    const { openForm, openLink } = sealingPages(site);
    const path = join(makeFolder(), "large.bin");
    closeSync(openSync(path, "w"));
    truncateSync(path, fileBytes);
    const sender = await openForm("file");
    await newPushForm(sender).files.setInputFiles(path);
    await newPushForm(sender).submit.click();
    await sender.waitForURL("**/preview", { timeout: 0 });
    const link = await sender.locator("#link").inputValue();
    expect(await peakBytes(sender)).toBeLessThan(memoryBytesMax);

    const recipient = await openLink(link.replace(/#.*/, ""));
    // A file that only counts its bytes: that Chromium writes to the chosen one is tested with a smaller file.
    await recipient.addInitScript(`
      window.showSaveFilePicker = async () => ({
        createWritable: async () => new WritableStream({
          write(piece) {
            window.savedBytes = (window.savedBytes ?? 0) + piece.length;
            if (piece.some((byte) => byte !== 0)) throw new Error("The content is another one.");
          },
        }),
      });
    `);
    await recipient.goto("about:blank");
    await recipient.goto(link);
    await recipient.getByRole("button", { name: en.step.open }).click();
    await recipient.getByRole("link", { name: en.secret.download({ filename: "large.bin" }) }).click();
    await recipient.getByText(en.endToEnd.saved({ filename: "large.bin" })).waitFor({ timeout: 0 });
    expect(await recipient.evaluate("window.savedBytes")).toBe(fileBytes);
    expect(await peakBytes(recipient)).toBeLessThan(memoryBytesMax);
  });
});

/** The peak of the largest process of the pages so far. */
async function peakBytes(page: Page): Promise<number> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  if (session === undefined) throw new Error("The page has no browser.");
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const peaks = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]) * 1024);
  expect(peaks.length).toBeGreaterThan(0);
  return Math.max(...peaks);
}
