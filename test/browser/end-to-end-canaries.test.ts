import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { launchBrowser } from "../support/browser.ts";
import { newPushForm } from "../support/browser-forms.ts";
import { Canaries } from "../support/canaries.ts";
import { filesIn } from "../support/database-file.ts";
import { makeDataDir } from "../support/domain.ts";
import { memoryOf } from "../support/process-memory.ts";
import { startServer } from "../support/server.ts";

const { endToEnd, step } = en;
/** Every identity begins so; the server has it in its own code. */
const prefix = "AGE-SECRET-KEY-1";

it("no byte of a sealed secret, its passphrase, its key or the name of a file reaches the server", async () => {
  const dataDir = makeDataDir();
  const server = await startServer({ dataDir, environment: { PWP__FILES__ALLOW_ANONYMOUS: "true" } });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const canaries = new Canaries();
  const sent: Buffer[] = [];
  const newPage = async (): Promise<Page> => {
    const page = await browser.newPage({ baseURL: server.baseUrl, locale: "en-GB" });
    page.on("request", (request) => {
      const { origin, pathname, search } = new URL(request.url());
      if (origin !== server.baseUrl) return;
      sent.push(Buffer.from(`${pathname}${search} ${JSON.stringify(request.headers())}`));
      sent.push(request.postDataBuffer() ?? Buffer.alloc(0));
    });
    return page;
  };

  const sender = await newPage();
  await sender.goto("/?kind=file");
  await sender.getByLabel(endToEnd.seal, { exact: true }).check();
  const form = newPushForm(sender);
  const filename = `${canaries.makeCore("file name")}.txt`;
  const content = canaries.makeCore("content of a file");
  await form.files.setInputFiles({ name: filename, mimeType: "text/plain", buffer: Buffer.from(content) });
  const message = canaries.makeCore("message");
  await form.payload.fill(message);
  const passphrase = canaries.makeCore("passphrase");
  await form.passphrase.fill(passphrase);
  await form.submit.click();
  await sender.locator("#link").waitFor();
  const link = await sender.locator("#link").inputValue();
  canaries.add("key in the link", new URL(link).hash.slice(1 + prefix.length));

  const recipient = await newPage();
  await recipient.addInitScript("delete window.showSaveFilePicker");
  await recipient.goto(link);
  await recipient.getByRole("button", { name: step.open }).click();
  await recipient.getByLabel(step.passphrase, { exact: true }).fill(passphrase);
  await recipient.getByRole("button", { name: step.open }).click();
  const download = recipient.waitForEvent("download");
  await recipient.getByRole("link", { name: en.secret.download({ filename }) }).click();
  expect(readFileSync(await (await download).path(), "utf8")).toBe(content);
  expect(await recipient.locator("#payload").textContent()).toBe(message);

  const findings: string[] = [];
  const search = (where: string, bytes: Buffer) =>
    findings.push(...canaries.findingsIn(bytes).map((finding) => `${where}: ${finding}`));
  for (const bytes of sent) search("request", bytes);
  search("log", Buffer.from(server.logLines.join("\n")));
  for (const [name, bytes] of filesIn(dataDir)) search(name, bytes);
  let hasSealedText = false;
  for (const bytes of memoryOf(server.pid)) {
    hasSealedText ||= bytes.includes("-----BEGIN AGE ENCRYPTED FILE-----\nYWdl");
    search("memory", bytes);
  }
  expect(findings).toEqual([]);
  // The search reads what the server works with.
  expect([sent.length > 10, hasSealedText]).toEqual([true, true]);
});
