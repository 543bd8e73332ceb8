import { ownerProofOf, readFragment } from "@sealpush/age/key-check";
import { openLabels, SealpushClient } from "@sealpush/client";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { newPushForm } from "../support/browser-forms.ts";
import { Canaries } from "../support/canaries.ts";
import { makeDataDir } from "../support/domain.ts";
import { makeOwner } from "../support/owner.ts";
import { memoryOf } from "../support/process-memory.ts";
import { runProgram } from "../support/processes.ts";
import { filesIn } from "../support/raw-files.ts";
import { tokenOf } from "../support/sealing-pages.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { connectBrowser, contentOf } from "../support/shared-browser.ts";

const { endToEnd, requests: text, step } = en;
/** Every identity begins so; the server has it in its own code. */
const prefix = "AGE-SECRET-KEY-1";
const sealedBeginning = "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl";

/** A server in its own process, browsers on its pages, and the secrets that they must keep from it. */
class Watched {
  readonly canaries = new Canaries();
  readonly server: ServerProcess;
  /** What the browsers have sent to the server. */
  readonly sent: Buffer[] = [];
  readonly #dataDir: string;
  readonly #browser: Browser;

  private constructor(server: ServerProcess, dataDir: string, browser: Browser) {
    this.server = server;
    this.#dataDir = dataDir;
    this.#browser = browser;
  }

  static async start(environment: Readonly<Record<string, string>> = {}): Promise<Watched> {
    const dataDir = makeDataDir();
    const server = await startServer({ dataDir, environment });
    const browser = await connectBrowser();
    onTestFinished(() => browser.close());
    return new Watched(server, dataDir, browser);
  }

  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const { baseUrl } = this.server;
    const page = await this.#browser.newPage({ baseURL: baseUrl, locale: "en-GB", ...options });
    page.on("request", (request) => {
      const { origin, pathname, search } = new URL(request.url());
      if (origin !== baseUrl) return;
      this.sent.push(Buffer.from(`${pathname}${search} ${JSON.stringify(request.headers())}`));
      this.sent.push(request.postDataBuffer() ?? Buffer.alloc(0));
    });
    return page;
  }

  /** A page with the session of an account, and the account's API token. */
  async newOwner(): Promise<{ readonly page: Page; readonly apiToken: string }> {
    const { cookie, apiToken } = await makeOwner(this.#dataDir, this.server.baseUrl);
    const [name = "", value = ""] = cookie.split("=");
    const page = await this.newPage();
    await page.context().addCookies([{ name, value, url: this.server.baseUrl }]);
    return { page, apiToken };
  }

  /** The identity in a link becomes a canary. */
  addKeyOf(name: string, link: string): void {
    // The link of an answer also has the token of the request, which the server knows.
    const { identity = "" } = readFragment(new URL(link).hash) ?? {};
    this.canaries.add(name, identity.slice(prefix.length));
  }

  /** Searches the log and the data folder, which contains the database with its log. */
  findStored(): readonly string[] {
    const places = [["log", Buffer.from(this.server.logLines.join("\n"))] as const, ...filesIn(this.#dataDir)];
    return places.flatMap(([where, bytes]) => this.findIn(where, bytes));
  }

  /** Searches what the browsers sent and the memory of the server, too. */
  findAnywhere(): readonly string[] {
    const findings = this.sent.flatMap((bytes) => this.findIn("request", bytes));
    let hasSealedText = false;
    for (const bytes of memoryOf(this.server.pid)) {
      hasSealedText ||= bytes.includes(sealedBeginning);
      findings.push(...this.findIn("memory", bytes));
    }
    // The search reads what the server works with.
    expect([this.sent.length > 10, hasSealedText]).toEqual([true, true]);
    return [...findings, ...this.findStored()];
  }

  findIn(where: string, bytes: Buffer): readonly string[] {
    return this.canaries.findingsIn(bytes).map((finding) => `${where}: ${finding}`);
  }
}

interface FileOfTest {
  readonly filename: string;
  readonly content: string;
}

/** On the page of an opened push of a message and a file. */
async function expectOpened(page: Page, message: string, { filename, content }: FileOfTest): Promise<void> {
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: en.secret.download({ filename }) }).click();
  expect((await contentOf(await download)).toString()).toBe(content);
  expect(await page.locator("#payload").textContent()).toBe(message);
}

it("no byte of a sealed secret, its passphrase, its key, its name and note or the name of a file reaches the server", async () => {
  const watched = await Watched.start();
  const { canaries } = watched;
  const { page: sender, apiToken } = await watched.newOwner();
  await sender.goto("/?kind=file");
  await sender.getByLabel(endToEnd.seal, { exact: true }).check();
  const form = newPushForm(sender);
  const file = makeFile(canaries);
  await form.files.setInputFiles(uploadOf(file));
  const message = canaries.makeCore("message");
  await form.payload.fill(message);
  const passphrase = canaries.makeCore("passphrase");
  await form.passphrase.fill(passphrase);
  const labels = makeLabels(canaries);
  await sender.locator("details.more > summary").click();
  await sender.locator("#push_name").fill(labels.name);
  await sender.locator("#push_note").fill(labels.note);
  await sender.getByLabel(endToEnd.sealLabels, { exact: true }).check();
  await form.submit.click();
  await sender.locator("#link").waitFor();
  const link = await sender.locator("#link").inputValue();
  watched.addKeyOf("key in the link", link);

  const recipient = await watched.newPage();
  await recipient.addInitScript("delete window.showSaveFilePicker");
  await recipient.goto(link);
  await recipient.getByRole("button", { name: step.open }).click();
  await recipient.getByLabel(step.passphrase, { exact: true }).fill(passphrase);
  await recipient.getByRole("button", { name: step.open }).click();
  await expectOpened(recipient, message, file);
  await expectLabels(sender, link, labels);
  const [listed] = await new SealpushClient({ server: watched.server.baseUrl, token: apiToken }).list("active");
  expect(listed && (await openLabels(listed, link))).toMatchObject(labels);

  const others = makeLabels(canaries);
  const otherLink = await pushLabels(watched.server.baseUrl, apiToken, others);
  watched.addKeyOf("key in the link of the command", otherLink);
  await expectLabels(sender, otherLink, others);
  expect(watched.findAnywhere()).toEqual([]);
});

it("no byte of an answer that a page has sealed, of the request's key or of its passphrase reaches the server", async () => {
  const watched = await Watched.start();
  const { canaries } = watched;
  const { page: owner } = await watched.newOwner();
  const passphrase = canaries.makeCore("passphrase of the key");
  const { link, answersUrl } = await ask(owner, passphrase);

  const sender = await watched.newPage();
  const answer = await sendAnswer(sender, link, canaries);
  // As on another device, which has not kept the key. Without that of the private link, which only the part after # has: another
  // address with that part alone would load nothing.
  await owner.evaluate("new Promise((done) => { indexedDB.deleteDatabase('sealpush').onsuccess = done; })");
  await owner.goto(answersUrl);
  await owner.reload();
  await owner.getByLabel(text.passphrase, { exact: true }).fill(passphrase);
  await owner.getByRole("button", { name: text.unlock }).click();
  await openAnswer(owner, watched, answer);
  expect(watched.findAnywhere()).toEqual([]);
  expect(await findShown(watched, sender, link)).toEqual([]);
});

it("no byte of an answer that the server has sealed is stored, logged or answered; the request's key does not reach it", async () => {
  const watched = await Watched.start();
  const { page: owner } = await watched.newOwner();
  const { link, answersUrl } = await ask(owner, "");
  watched.addKeyOf("key in the private link", answersUrl);
  const sender = await watched.newPage({ javaScriptEnabled: false });
  const beforeAnswer = new Canaries();
  const answer = await sendAnswer(sender, link, beforeAnswer);
  expect(watched.findAnywhere()).toEqual([]);

  for (const [name, value] of Object.entries({ ...answer.file, message: answer.message })) {
    watched.canaries.add(name, value);
  }
  expect(watched.findStored()).toEqual([]);
  expect(await findShown(watched, sender, link)).toEqual([]);
  await owner.goto(answersUrl);
  await owner.reload();
  await openAnswer(owner, watched, answer);
  expect(watched.findStored()).toEqual([]);
  expect(await watched.server.stop()).toMatchObject({ exitCode: 0 });
  expect(watched.findStored()).toEqual([]);
});

it("no byte of the key of a request without an account or of its answers reaches the server, which stores no proof", async () => {
  const watched = await Watched.start({
    PWP__REQUESTS__ALLOW_ANONYMOUS: "true",
    PWP__FILES__ALLOW_ANONYMOUS: "true",
  });
  const requester = await watched.newPage();
  const { link, answersUrl } = await ask(requester, null);
  watched.addKeyOf("key in the private link", answersUrl);
  const sender = await watched.newPage();
  const answer = await sendAnswer(sender, link, watched.canaries);
  const later = await watched.newPage();
  await later.addInitScript("delete window.showSaveFilePicker");
  await later.goto(answersUrl);
  await openAnswer(later, watched, answer);
  expect(watched.findAnywhere()).toEqual([]);
  expect(await findShown(watched, sender, link)).toEqual([]);

  const proof = await ownerProofOf(new URL(answersUrl).hash.slice(1));
  expect(watched.sent.join("\n")).toContain(proof);
  watched.canaries.add("proof", proof);
  expect(watched.findStored()).toEqual([]);
  expect(await watched.server.stop()).toMatchObject({ exitCode: 0 });
  expect(watched.findStored()).toEqual([]);
});

interface LabelsOfTest {
  readonly name: string;
  readonly note: string;
}

function makeLabels(canaries: Canaries): LabelsOfTest {
  return { name: canaries.makeCore("name"), note: canaries.makeCore("note") };
}

/** On the pages of the owner: sealed in the list, and opened on the audit trail with the key. */
async function expectLabels(page: Page, link: string, { name, note }: LabelsOfTest): Promise<void> {
  await page.goto("/p");
  await page.getByRole("link", { name: endToEnd.sealedName, exact: true }).first().waitFor();
  await page.goto(`/p/${tokenOf(link)}/audit${new URL(link).hash}`);
  await page.getByRole("heading", { name }).waitFor();
  expect(await page.locator(".whole-note").textContent()).toBe(note);
}

/** @returns the link. */
async function pushLabels(server: string, token: string, { name, note }: LabelsOfTest): Promise<string> {
  const argv = ["push", "--e2e", "--seal-labels", "--name", name, "--note", note];
  const environment = { SEALPUSH_SERVER: server, SEALPUSH_TOKEN: token };
  const { stdout, stderr } = await runProgram(argv, environment, "x");
  expect(stderr).toBe("");
  return stdout.trim();
}

function makeFile(canaries: Canaries): FileOfTest {
  return { filename: `${canaries.makeCore("file name")}.txt`, content: canaries.makeCore("content of a file") };
}

const uploadOf = ({ filename, content }: FileOfTest) => ({
  name: filename,
  mimeType: "text/plain",
  buffer: Buffer.from(content),
});

/** Makes a request for a text and files. @param passphrase of its key; "": the key is in the private link; null: no account. */
async function ask(owner: Page, passphrase: string | null) {
  await owner.addInitScript("delete window.showSaveFilePicker");
  await owner.goto("/requests/new");
  await owner.getByLabel(text.title, { exact: true }).fill("Root password");
  await owner.getByLabel(text.wantsFiles, { exact: true }).check();
  if (passphrase !== null) await owner.getByLabel(text.passphrase, { exact: true }).fill(passphrase);
  await owner.getByRole("button", { name: text.submit }).click();
  await owner.locator("#link").waitFor();
  return { link: await owner.locator("#link").inputValue(), answersUrl: owner.url() };
}

interface Answer {
  readonly message: string;
  readonly file: FileOfTest;
}

async function sendAnswer(sender: Page, link: string, canaries: Canaries): Promise<Answer> {
  const answer = { message: canaries.makeCore("message"), file: makeFile(canaries) };
  await sender.goto(link);
  await sender.getByLabel(text.text, { exact: true }).fill(answer.message);
  await sender.getByLabel(text.files, { exact: true }).setInputFiles(uploadOf(answer.file));
  await sender.getByRole("button", { name: text.send }).click();
  await sender.getByRole("heading", { name: text.sentHeading }).waitFor();
  return answer;
}

/** On the owner's page of the answers. */
async function openAnswer(owner: Page, watched: Watched, { message, file }: Answer): Promise<void> {
  const link = owner.getByRole("link", { name: text.openAnswer });
  await link.waitFor();
  watched.addKeyOf("key in the link of the answer", await link.evaluate((anchor) => Reflect.get(anchor, "href")));
  await link.click();
  await owner.getByRole("button", { name: step.open }).click();
  await expectOpened(owner, message, file);
}

/** Searches all that the sender gets to see after the answer. */
async function findShown(watched: Watched, sender: Page, link: string): Promise<readonly string[]> {
  const findings = [...watched.findIn("page after the answer", Buffer.from(await sender.content()))];
  const { pathname } = new URL(link);
  for (const path of [
    pathname,
    `${pathname}?done=sent`,
    `/api/sealpush${pathname}`,
    `/api/sealpush${pathname}/answers`,
  ]) {
    const answer = await fetch(`${watched.server.baseUrl}${path}`);
    findings.push(...watched.findIn(path, Buffer.from(await answer.text())));
  }
  return findings;
}
