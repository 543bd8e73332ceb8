import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeLinkKey } from "@sealpush/age/link-key";
import { sealText } from "@sealpush/age/seal";
import { writePayload } from "@sealpush/age/sealed-content";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy, newPushForm, unfold } from "../support/browser-forms.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { runProgram } from "../support/processes.ts";
import { modulesOf, modulesSeen } from "../support/qr-pixels.ts";
import { sealFiles } from "../support/sealed-content.ts";
import { sealingPages, tokenOf } from "../support/sealing-pages.ts";
import { contentOf } from "../support/shared-browser.ts";
import { openSite } from "../support/site.ts";

/** The path of Debian's program. */
const ageProgram = process.env.SEALPUSH_TEST_AGE || undefined;
const site = openSite();
const { endToEnd, step, secret } = en;
const secretText = "geheim 🔑 <b>\n zweite Zeile";

const { openForm, sendForLink, sealInPage, openLink } = sealingPages(site);

const openButton = (page: Page) => page.getByRole("button", { name: step.open });
const previewOf = async (link: string) =>
  (await site.fetch(`/api/v2/pushes/${tokenOf(link)}/preview`)).json() as Promise<Record<string, unknown>>;
async function stored(link: string): Promise<string> {
  return (await (await site.fetch(`/api/v2/pushes/${tokenOf(link)}`)).json()).payload;
}

describe("a text sealed in the browser", () => {
  it("opens in the browser of its recipient exactly as it was typed, and the server has only the sealed text", async () => {
    const { link } = await sealInPage(secretText);
    expect(link).toMatch(/\/p\/[0-9a-z]{32}\/r#AGE-SECRET-KEY-1[0-9A-Z]{58}$/);
    const page = await openLink(link);
    await openButton(page).click();
    await page.getByText(secret.reveal).first().click();
    await page.getByText("zweite Zeile").waitFor();
    expect(await page.locator("#payload").textContent()).toBe(secretText);
    expect(await stored(link)).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/);
  });

  it.runIf(ageProgram)("opens with the age tool, and the page opens what the age tool has sealed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sealpush-age-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const keyFile = join(folder, "key.txt");
    const { link } = await sealInPage(secretText);
    writeFileSync(keyFile, new URL(link).hash.slice(1));
    expect(execFileSync(ageProgram ?? "", ["-d", "-i", keyFile], { input: await stored(link) }).toString()).toBe(
      secretText,
    );

    const key = await makeLinkKey();
    const payload = execFileSync(ageProgram ?? "", ["-a", "-r", key.recipient], { input: secretText }).toString();
    const { path } = await site.push({ payload, encryption: "age" });
    const page = await openLink(`${path}#${key.identity}`);
    await openButton(page).click();
    await page.locator("#payload", { hasText: "zweite Zeile" }).waitFor({ state: "attached" });
    expect(await page.locator("#payload").textContent()).toBe(secretText);
  });

  it("opens with the command, and the page opens what the command has sealed", async () => {
    const environment = { SEALPUSH_SERVER: site.baseUrl };
    const { link } = await sealInPage(secretText);
    expect(await runProgram(["open", link], environment)).toMatchObject({ exitCode: 0, stdout: secretText });

    const pushed = await runProgram(["push", "--e2e"], environment, secretText);
    expect(pushed).toMatchObject({ exitCode: 0 });
    const page = await openLink(pushed.stdout.trim());
    await openButton(page).click();
    await page.locator("#payload", { hasText: "zweite Zeile" }).waitFor({ state: "attached" });
    expect(await page.locator("#payload").textContent()).toBe(secretText);
  });

  it("is protected by a passphrase that never leaves the browsers, and a wrong one can be corrected", async () => {
    const { link } = await sealInPage(secretText, "correct horse");
    expect(await previewOf(link)).toMatchObject({ encryption: "age", encryption_passphrase: true });
    const page = await openLink(link);
    await page.getByText(step.leadPassphrase).waitFor();
    await openButton(page).click();
    const field = page.getByLabel(step.passphrase, { exact: true });
    await field.fill("wrong horse");
    await openButton(page).click();
    await page.getByText(endToEnd.wrongPassphrase).waitFor();
    await field.fill("correct horse");
    await openButton(page).click();
    await page.getByText(secret.reveal).first().waitFor();
    expect(await page.locator("#payload").textContent()).toBe(secretText);
  });

  it("shows its whole link in the field, the message, the email and the QR code, but not once it was copied and left", async () => {
    const { page, link } = await sealInPage("x");
    expect(new URL(page.url()).hash).toBe("");
    expect(await page.locator("#message").inputValue()).toContain(link);
    expect(decodeURIComponent((await page.locator("#mail_message").getAttribute("href")) ?? "")).toContain(link);
    expect(await page.locator("#link_printed").textContent()).toBe(link);
    await unfold(page, en.created.showPrint);
    expect(await page.locator("#print_text").isVisible()).toBe(true);
    await page.getByText(endToEnd.linkOnce).waitFor();
    await copyBy(page, () => page.getByRole("button", { name: en.created.copyLink, exact: true }).click());
    await page.reload();
    await page.getByText(endToEnd.keyGoneText).waitFor();
    expect(await page.locator("#link").isVisible()).toBe(false);
    expect(await page.locator("#print_text").isVisible()).toBe(false);
  });

  it("has its QR code as files, and its message in the recipient's language, with the whole link", async () => {
    const { page, link } = await sealInPage("x", "", { expectedErrors: /429/ });
    for (const panel of [en.created.showMessage, en.created.showQr]) await unfold(page, panel);
    const choose = async (tag: string) => {
      await page.locator("#recipient").selectOption(tag);
      await page.waitForURL(tag === "" ? "**/preview" : `**/preview?recipient=${tag}`);
    };
    await choose("de");
    const whole = link.replace("#", "?locale=de#");
    expect(await page.locator("#link").inputValue()).toBe(whole);
    expect(await page.locator("#message").inputValue()).toContain(whole);
    expect(await page.locator("#message").getAttribute("lang")).toBe("de");
    expect(decodeURIComponent((await page.locator("#mail_message").getAttribute("href")) ?? "")).toContain(whole);
    for (const format of ["svg", "png"]) {
      const download = page.waitForEvent("download");
      await page.locator(`#qr_${format}`).click();
      const saved = await download;
      expect(saved.suggestedFilename()).toBe(`qr-code.${format}`);
      const bytes = (await contentOf(saved)).toString("base64");
      const shown = await page.context().newPage();
      await shown.setContent(
        `<img width="900" src="data:image/${format === "svg" ? "svg+xml" : "png"};base64,${bytes}">`,
      );
      const expected = modulesOf(whole);
      expect(await modulesSeen(shown.locator("img"), expected.length, page.context())).toEqual(expected);
    }
    await page.route("**/preview?*", async (route) => {
      await route.fulfill({ response: await route.fetch(), status: 429 });
    });
    await page.locator("#recipient").selectOption("fr");
    await page.locator('#recipient option[value="de"]:checked').waitFor({ state: "attached" });
    expect(await page.locator("#link").inputValue()).toBe(whole);
    await page.unroute("**/preview?*");
    await choose("");
    expect(await page.locator("#link").inputValue()).toBe(link);
  });

  it("keeps what was typed and says why, when the server refuses the form", async () => {
    const page = await openForm();
    const form = newPushForm(page);
    await form.payload.fill(secretText);
    await page.evaluate("document.querySelector('#push_expire_after_views').max = ''");
    await page.locator("#push_expire_after_views").fill("100000");
    await form.submit.click();
    await page.getByText(en.problems.heading).first().waitFor();
    expect(await form.payload.inputValue()).toBe(secretText);
  });

  it("says what to do when the server cannot be reached", async () => {
    const page = await openForm("text", { expectedErrors: /ERR_FAILED/ });
    const form = newPushForm(page);
    await form.payload.fill(secretText);
    await page.route("**/p", (route) => route.abort());
    await form.submit.click();
    await page.getByText(en.sending.unansweredHeading).waitFor();
    expect(await form.payload.inputValue()).toBe(secretText);
  });
});

describe("before a view is spent", () => {
  async function expectNoView(link: string): Promise<void> {
    const page = await openLink(link.replace(/#.*/, ""));
    await page.getByText(step.viewsLeft({ count: 5 })).waitFor({ state: "attached" });
  }

  it("a missing key and a changed one are reported, and the form is not offered", async () => {
    const { link } = await sealInPage("x");
    const missing = await openLink(link.replace(/#.*/, ""));
    await missing.getByText(endToEnd.missingText).waitFor();
    expect(await openButton(missing).isVisible()).toBe(false);
    for (const wrong of [link.slice(0, -1), `${link.replace(/#.*/, "")}#${(await makeLinkKey()).identity}`]) {
      const page = await openLink(wrong);
      await page.getByText(endToEnd.wrongText).waitFor();
      expect(await openButton(page).isVisible()).toBe(false);
    }
    await expectNoView(link);
  });

  it.each([
    ["a full stop", (link: string) => `${link}.`],
    ["a bracket and a comma", (link: string) => `${link}),`],
    ["a quotation mark", (link: string) => `${link}”`],
    ["an encoded #", (link: string) => link.replace("#", "%23")],
  ])("the link opens although a chat has given it %s", async (_what, change) => {
    const { link } = await sealInPage(secretText);
    const page = await openLink(change(link));
    await openButton(page).click();
    await page.getByText(secret.reveal).first().waitFor();
    expect(await page.locator("#payload").textContent()).toBe(secretText);
  });

  it("the whole link can be pasted over the one that was cut", async () => {
    const { link } = await sealInPage("x");
    const page = await openLink(link.slice(0, -1));
    await page.getByText(endToEnd.wrongText).waitFor();
    await page.goto(link);
    await openButton(page).waitFor();
  });

  it("the step is shown even if the link has none, because the key has to be checked", async () => {
    const key = await makeLinkKey();
    const payload = await sealText("x", key.recipient, "");
    const push = { payload, encryption: "age", encryption_check: key.check, retrieval_step: false };
    const { path } = await site.push(push);
    const page = await openLink(`${path}#${key.identity}`);
    await openButton(page).click();
    await page.locator("#payload", { hasText: "x" }).waitFor({ state: "attached" });
  });
});

it("a sealed text that was changed is reported and not shown", async () => {
  const key = await makeLinkKey();
  const other = await sealText("x", (await makeLinkKey()).recipient, "");
  const { path } = await site.push({ payload: other, encryption: "age", encryption_check: key.check });
  const page = await openLink(`${path}#${key.identity}`);
  await openButton(page).click();
  await page.getByText(endToEnd.damaged).waitFor();
  expect(await page.locator("#payload").isVisible()).toBe(false);
});

/** The names in the directory of an archive, and that it is one; src/base/zip.test.ts has all details. */
function namesIn(archive: Buffer): string[] {
  const end = archive.length - 22;
  expect(archive.readUInt32LE(end)).toBe(0x0605_4b50);
  const names: string[] = [];
  for (let at = archive.readUInt32LE(end + 16); at < end; ) {
    const nameEnd = at + 46 + archive.readUInt16LE(at + 28);
    names.push(archive.toString("utf8", at + 46, nameEnd));
    at = nameEnd + archive.readUInt16LE(at + 30);
  }
  return names;
}

describe("files sealed in the browser", () => {
  const content = Buffer.alloc(9_000_000, "0123456789abcdef");

  it.each(["", "correct horse"])(
    "are saved by the recipient as they were, with their names (passphrase: %j)",
    async (passphrase) => {
      const page = await openForm("file");
      const form = newPushForm(page);
      await form.files.setInputFiles([
        { name: "große Datei.bin", mimeType: "application/octet-stream", buffer: content },
        { name: "b.html", mimeType: "text/html", buffer: Buffer.from("<script>alert(1)</script>") },
      ]);
      await form.payload.fill("the message");
      if (passphrase !== "") await form.passphrase.fill(passphrase);
      const link = await sendForLink(page);
      const names = (await (await site.fetch(`/api/v2/pushes/${tokenOf(link)}`)).json()).files.map(
        ({ filename }: { filename: string }) => filename,
      );
      expect(names).toEqual(["1.age", "2.age"]);

      const recipient = await openLink(link);
      // Headless browsers have no dialog for choosing a file: this one saves as browsers without it do.
      await recipient.evaluate("delete window.showSaveFilePicker");
      await recipient.addInitScript("delete window.showSaveFilePicker");
      await openButton(recipient).click();
      if (passphrase !== "") {
        await recipient.getByLabel(step.passphrase, { exact: true }).fill(passphrase);
        await openButton(recipient).click();
      }
      for (const [filename, expected] of [
        ["große Datei.bin", content],
        ["b.html", Buffer.from("<script>alert(1)</script>")],
      ] as const) {
        const download = recipient.waitForEvent("download");
        await recipient.getByRole("link", { name: secret.download({ filename }) }).click();
        const saved = await download;
        expect(saved.suggestedFilename()).toBe(filename);
        expect((await contentOf(saved)).equals(expected)).toBe(true);
        await recipient.getByText(endToEnd.saved({ filename })).waitFor();
      }
      expect(await recipient.locator("#payload").textContent()).toBe("the message");
    },
  );

  it("are looked at in the page as pictures and texts, in which nothing runs, and are saved together as one archive", async () => {
    const picture = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
      "base64",
    );
    const markup = '<img src="/nothing" onerror="document.title=1"><script>document.title=1</script>';
    const page = await openForm("file");
    const form = newPushForm(page);
    await form.files.setInputFiles([
      { name: "dot.png", mimeType: "image/png", buffer: picture },
      { name: "page.csv", mimeType: "text/csv", buffer: Buffer.from(markup) },
      { name: "wrong.png", mimeType: "image/png", buffer: Buffer.from("PK\x03\x04\0") },
      { name: "large.txt", mimeType: "text/plain", buffer: Buffer.alloc(1_048_577, "x") },
      { name: "page.csv/", mimeType: "text/html", buffer: Buffer.from("x") },
    ]);
    const recipient = await openLink(await sendForLink(page));
    await recipient.evaluate("delete window.showSaveFilePicker");
    await recipient.addInitScript("delete window.showSaveFilePicker");
    await openButton(recipient).click();
    await recipient.getByText("dot.png").waitFor();
    const look = (filename: string) =>
      recipient.getByRole("button", { name: endToEnd.look({ filename }), exact: true });
    await look("dot.png").click();
    await recipient.getByRole("img", { name: "dot.png" }).waitFor();
    expect(await recipient.evaluate("document.querySelector('[data-looked] img').naturalWidth")).toBe(1);
    await look("page.csv").click();
    await recipient.getByText(markup).waitFor();
    expect(await recipient.title()).toContain(secret.title);
    await expectAccessibleLayout(recipient);
    await look("page.csv").click();
    await recipient.getByText(markup).waitFor({ state: "hidden" });
    await look("wrong.png").click();
    await recipient.getByText(endToEnd.notShown({ filename: "wrong.png" })).waitFor();
    expect(await look("large.txt").isVisible()).toBe(false);
    await recipient.getByText(endToEnd.tooLarge({ max: "1 MB" })).waitFor();
    const large = recipient.waitForEvent("download");
    await recipient.getByRole("link", { name: secret.download({ filename: "large.txt" }) }).click();
    await recipient.getByText(endToEnd.saved({ filename: "large.txt" })).waitFor();
    expect((await contentOf(await large)).length).toBe(1_048_577);

    const download = recipient.waitForEvent("download");
    await recipient.getByRole("button", { name: /ZIP/ }).click();
    const saved = await download;
    await recipient.getByText(endToEnd.saved({ filename: "files.zip" })).waitFor();
    const names = ["dot.png", "page.csv", "wrong.png", "large.txt", "page.csv_"];
    expect(namesIn(await contentOf(saved))).toEqual(names);
  });

  it("are written to the chosen file as a stream, and not at all if they were changed", async () => {
    const key = await makeLinkKey();
    const small = content.subarray(0, 3_000_000);
    const parts = await sealFiles(["whole.bin", "changed.bin"].map((name) => ({ name, content: small })));
    const changed = parts[1]?.sealed ?? Buffer.alloc(0);
    changed.writeUInt8(changed.readUInt8(2_000_000) ^ 1, 2_000_000);
    const list = writePayload({ text: "", files: parts.map(({ details }) => details) });
    const payload = await sealText(list, key.recipient, "");
    const files = parts.map(({ details, sealed }) => ({
      filename: details.stored,
      data: sealed.toString("base64"),
    }));
    const { path } = await site.push({ kind: "file", payload, files, encryption: "age" }, "owned");
    const page = await openLink(path);
    const chooser = `window.showSaveFilePicker = async ({ suggestedName }) =>
      (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })`;
    await page.addInitScript(chooser);
    await page.reload();
    await page.goto(`${path}#${key.identity}`);
    await openButton(page).click();
    await page.getByRole("link", { name: secret.download({ filename: "whole.bin" }) }).click();
    await page.getByText(endToEnd.saved({ filename: "whole.bin" })).waitFor();
    await page.getByRole("link", { name: secret.download({ filename: "changed.bin" }) }).click();
    await page.getByText(endToEnd.saveFailed({ filename: "changed.bin" })).waitFor();
    await page.getByRole("button", { name: /ZIP/ }).click();
    await page.getByText(endToEnd.saveFailed({ filename: "files.zip" })).waitFor();
    const sizes = await page.evaluate(`(async () => {
      const folder = await navigator.storage.getDirectory();
      const sizes = [];
      for (const name of ["whole.bin", "changed.bin", "files.zip"]) {
        const handle = await folder.getFileHandle(name);
        sizes.push((await handle.getFile()).size);
      }
      return sizes;
    })()`);
    expect(sizes).toEqual([small.length, 0, 0]);
  });
});

it("the page that decrypts names the hashes of its scripts that the server publishes", async () => {
  const { link } = await sealInPage("x");
  const page = await openLink(link);
  await openButton(page).click();
  await page.locator("#payload").waitFor({ state: "attached" });
  const named: string[] = await page.evaluate(
    "[...document.scripts].map(({ integrity, src }) => integrity + '  ' + new URL(src).pathname)",
  );
  const published = await (await fetch(`${site.baseUrl}/scripts.json`)).json();
  const hashes = published.scripts.map(({ integrity, path }: Record<string, string>) => `${integrity}  ${path}`);
  expect(named.filter((script) => script.includes("/open-sealed-"))).toHaveLength(1);
  expect(hashes).toEqual(expect.arrayContaining(named));
});

describe("without JavaScript", () => {
  it("the form says that sealing needs it, and does not offer it", async () => {
    const { page } = await site.visit({ javaScriptEnabled: false });
    await page.goto("/");
    expect(await page.locator("noscript .field-hint").allInnerTexts()).toContain(endToEnd.sealNeedsScript);
    expect(await page.getByLabel(endToEnd.seal).isVisible()).toBe(false);
  });

  it("the recipient can get the sealed text for the age tool", async () => {
    const { link } = await sealInPage("x");
    const { page } = await site.visit({ javaScriptEnabled: false });
    await page.goto(link);
    expect(await page.locator("noscript .notice p").innerText()).toBe(endToEnd.needsScript);
    await page.locator("noscript button").click();
    await page.getByText(endToEnd.sealedText).click();
    await page.getByText("BEGIN AGE ENCRYPTED FILE").waitFor();
  });
});

it("every page fits and is accessible", async () => {
  const { page, link } = await sealInPage("x", "p");
  await expectAccessibleLayout(page);
  const recipient = await openLink(link);
  await openButton(recipient).waitFor();
  await expectAccessibleLayout(recipient);
  await openButton(recipient).click();
  await recipient.getByLabel(step.passphrase, { exact: true }).waitFor();
  await expectAccessibleLayout(recipient);
  const cut = await openLink(link.slice(0, -1));
  await cut.getByText(endToEnd.wrongText).waitFor();
  await expectAccessibleLayout(cut);
});
