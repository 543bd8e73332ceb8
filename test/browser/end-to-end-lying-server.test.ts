import { makeLinkKey } from "@sealpush/age/link-key";
import { sealText } from "@sealpush/age/seal";
import { writeAnswer, writePayload } from "@sealpush/age/sealed-content";
import { armor, Encrypter } from "age-encryption";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { newPushForm } from "../support/browser-forms.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { sealFiles } from "../support/sealed-content.ts";
import { sealingPages, tokenOf } from "../support/sealing-pages.ts";
import { contentOf } from "../support/shared-browser.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { endToEnd, step, secret, requests } = en;
const { openForm, sendForLink } = sealingPages(site);

const message = "see the files";

async function pushFiles(): Promise<string> {
  const page = await openForm("file");
  const form = newPushForm(page);
  const chosen = ["a.txt", "b.txt"].map((name) => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(`content of ${name}`),
  }));
  await form.files.setInputFiles(chosen);
  await form.payload.fill(message);
  return await sendForLink(page);
}

/** Opens the link of a push whose page the server changes on the way. @param lie gets the page and returns another one. */
async function openChanged(link: string, lie: (page: string) => string): Promise<Page> {
  const { page } = await site.visit({ reducedMotion: "reduce" });
  await page.addInitScript("delete window.showSaveFilePicker");
  await page.route(/\/p\/[a-z0-9]{32}\/r$/, async (route) => {
    if (route.request().method() !== "POST") return await route.continue();
    const response = await route.fetch();
    const body = await response.text();
    const changed = lie(body);
    expect(changed).not.toBe(body);
    await route.fulfill({ response, body: changed });
  });
  await page.goto(link);
  await page.getByRole("button", { name: step.open }).click();
  return page;
}

const row = /<li [^>]*data-sealed-file="(\d)\.age"[\s\S]*?<\/li>/g;

async function expectNothingShown(page: Page): Promise<void> {
  expect(await page.locator("#payload").isVisible()).toBe(false);
  expect(await page.locator("#payload").textContent()).toBe("");
  expect(await page.locator("[data-sealed-file]:visible").count()).toBe(0);
  await expectAccessibleLayout(page);
}

describe("nothing of a push with files is shown, and the page says why, if the server", () => {
  const [missing, added, short] = [endToEnd.missingFile, endToEnd.addedFile, endToEnd.shortFile];
  const a = { filename: "a.txt" };
  const b = { filename: "b.txt" };
  it.each<[string, (page: string) => string, readonly string[]]>([
    ["drops a file", (page) => page.replace(row, (all, number) => (number === "2" ? "" : all)), [missing(b)]],
    [
      "drops all files with their section",
      (page) => page.replace(/<section [^>]*data-sealed-files[\s\S]*?<\/section>/, ""),
      [missing(a), missing(b)],
    ],
    [
      "adds a file",
      (page) => page.replace(row, (all, number) => (number === "2" ? all + all.replaceAll("2.age", "3.age") : all)),
      [added({ filename: "3.age" })],
    ],
    [
      "renames a file",
      (page) => page.replace('data-sealed-file="1.age"', 'data-sealed-file="x.age"'),
      [missing(a), added({ filename: "x.age" })],
    ],
    ["cuts a file", (page) => page.replace(/data-bytes="\d+"/, 'data-bytes="215"'), [short(a)]],
  ])("%s", async (_, lie, problems) => {
    const page = await openChanged(await pushFiles(), lie);
    await page.getByText(endToEnd.incomplete).waitFor();
    expect(await page.locator("[data-delivery-problems] li").allInnerTexts()).toEqual(problems);
    await expectNothingShown(page);
  });
});

it("files that the server exchanges do not open, and their order is the one that was sealed", async () => {
  const page = await openChanged(await pushFiles(), (html) => {
    const [first = "", second = ""] = [...html.matchAll(/href="(\/files\/[^"?]+)"/g)].map(([, href]) => href);
    return html.replaceAll(first, "first").replaceAll(second, first).replaceAll("first", second);
  });
  await page.getByText("a.txt").waitFor();
  expect(await page.locator(".file-name").allInnerTexts()).toEqual(["a.txt", "b.txt"]);
  for (const filename of ["a.txt", "b.txt"]) {
    await page.getByRole("link", { name: secret.download({ filename }) }).click();
    await page.getByText(endToEnd.saveFailed({ filename })).waitFor();
    await page.getByRole("button", { name: endToEnd.look({ filename }), exact: true }).click();
    await page.getByText(endToEnd.lookFailed({ filename })).waitFor();
  }
});

it("a file that is cut, or whose rows the server has reordered, is saved only as it was sealed", async () => {
  const page = await openChanged(await pushFiles(), (html) => {
    const [first = "", second = ""] = html.match(row) ?? [];
    return html.replace(first, "<!-- -->").replace(second, second + first);
  });
  await page.getByText("a.txt").waitFor();
  expect(await page.locator(".file-name").allInnerTexts()).toEqual(["a.txt", "b.txt"]);
  const cut = { filename: "a.txt" };
  await page.route("**/files/*", async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      body: (await response.body()).subarray(0, -1),
      headers: { ...response.headers(), "content-length": "" },
    });
  });
  await page.getByRole("link", { name: secret.download(cut) }).click();
  await page.getByText(endToEnd.saveFailed(cut)).waitFor();
  await page.unroute("**/files/*");
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: secret.download(cut) }).click();
  expect((await contentOf(await download)).toString()).toBe("content of a.txt");
});

it("a file of another size than the list says is not saved", async () => {
  const key = await makeLinkKey();
  const [file] = await sealFiles([{ name: "a.txt", content: Uint8Array.from([1, 2, 3]) }]);
  if (file === undefined) throw new Error("There is no file.");
  const list = writePayload({ text: "", files: [{ ...file.details, size: 2 }] });
  const payload = await sealText(list, key.recipient, "");
  const files = [{ filename: "1.age", data: file.sealed.toString("base64") }];
  const { path } = await site.push({ kind: "file", payload, files, encryption: "age" }, "owned");
  const { page } = await site.visit();
  await page.addInitScript("delete window.showSaveFilePicker");
  await page.goto(`${path}#${key.identity}`);
  await page.getByRole("button", { name: step.open }).click();
  await page.getByRole("link", { name: secret.download({ filename: "a.txt" }) }).click();
  await page.getByText(endToEnd.saveFailed({ filename: "a.txt" })).waitFor();
});

describe("something else in place of the payload is not shown:", () => {
  const armored = /-----BEGIN AGE ENCRYPTED FILE-----[\s\S]*?-----END AGE ENCRYPTED FILE-----/;

  it("the note, the name, or nothing", async () => {
    const page = await openForm("text", { signedIn: true });
    await newPushForm(page).payload.fill("the secret");
    await page.locator("details.more > summary").click();
    await page.locator("#push_name").fill("Bridge 7");
    await page.locator("#push_note").fill("on Friday");
    await page.getByLabel(endToEnd.sealLabels, { exact: true }).check();
    const link = await sendForLink(page);
    const { name, note } = await site.ownPush(tokenOf(link));
    for (const label of [String(name).trim(), String(note).trim(), ""]) {
      const changed = await openChanged(link, (html) => html.replace(armored, label));
      await changed.getByText(endToEnd.unexpected).waitFor();
      await expectNothingShown(changed);
    }
  });

  it("content in a later format", async () => {
    const key = await makeLinkKey();
    const payload = await sealText('{"sealpush":2,"is":"payload","text":"x"}', key.recipient, "");
    const { path } = await site.push({ payload, encryption: "age" });
    const { page } = await site.visit();
    await page.goto(`${path}#${key.identity}`);
    await page.getByRole("button", { name: step.open }).click();
    await page.getByText(endToEnd.unexpected).waitFor();
  });

  it("the answer to another request of the same key, and a bare text", async () => {
    const { page } = await site.visit({ signedIn: true, reducedMotion: "reduce" });
    await page.goto("/requests/new");
    await page.getByLabel(requests.title, { exact: true }).fill("Root password");
    await page.getByLabel(requests.answersMax, { exact: true }).fill("3");
    await page.getByRole("button", { name: requests.submit }).click();
    await page.locator("#private_link").waitFor();
    const answersUrl = page.url();
    const urlToken = new URL(answersUrl).pathname.split("/").at(-2) ?? "";
    const asked = await (await site.fetch(`/api/sealpush/requests/${urlToken}`)).json();
    const right = writeAnswer(urlToken, { text: "right", files: [] });
    for (const content of [writeAnswer("a".repeat(32), { text: "x", files: [] }), "a bare text", right]) {
      const payload = await sealText(content, asked.recipient, "");
      const sent = await site.fetch(`/api/sealpush/requests/${urlToken}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ payload, encryption: "age" }),
      });
      expect(sent.status).toBe(201);
    }
    await page.reload();
    const opening = page.locator("a[data-answer-link]:visible");
    await opening.first().waitFor();
    const links = await opening.evaluateAll((found) => found.map((link) => Reflect.get(link, "href") as string));
    const outcomes: string[] = [];
    for (const link of links) {
      await page.goto(link);
      await page.getByRole("button", { name: step.open }).click();
      await page.locator("[data-sealed] [data-key-state]:visible").first().waitFor();
      await expect.poll(() => page.locator('[data-key-state="opening"]').isVisible()).toBe(false);
      outcomes.push((await page.getByText(endToEnd.unexpected).isVisible()) ? "refused" : "shown");
    }
    expect(outcomes).toEqual(["refused", "refused", "shown"]);
    expect(await page.locator("#payload").textContent()).toBe("right");
  });
});

it("files that only the age tool has sealed are opened, and the page says that their names and number are not protected", async () => {
  const key = await makeLinkKey();
  const age = new Encrypter();
  age.addRecipient(key.recipient);
  const files = [{ filename: "plan.txt.age", data: Buffer.from(await age.encrypt("the plan")).toString("base64") }];
  const payload = armor.encode(await age.encrypt("by hand"));
  const { path } = await site.push({ kind: "file", payload, files, encryption: "age" }, "owned");
  const { page } = await site.visit({ reducedMotion: "reduce" });
  await page.addInitScript("delete window.showSaveFilePicker");
  await page.goto(`${path}#${key.identity}`);
  await page.getByRole("button", { name: step.open }).click();
  await page.getByText(endToEnd.unlisted).waitFor();
  expect(await page.locator("#payload").textContent()).toBe("by hand");
  await expectAccessibleLayout(page);
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: secret.download({ filename: "plan.txt" }) }).click();
  expect((await contentOf(await download)).toString()).toBe("the plan");

  const listed = await openChanged(await pushFiles(), (html) => `${html}<!-- -->`);
  await listed.getByText("a.txt").waitFor();
  expect(await listed.getByText(endToEnd.unlisted).isVisible()).toBe(false);
});
