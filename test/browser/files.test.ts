import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, newPushForm, urlTokenOf } from "../support/browser-forms.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite({ PWP__FILES__MAX_FILE_UPLOADS: "3", PWP__FILES__MAX_PUSH_BYTES: "1000" });
const { edit, files, newPush, problems } = en;

const file = (name: string, size = 3) => ({ name, mimeType: "text/plain", buffer: Buffer.alloc(size, name) });

async function openForm(): Promise<Page> {
  const { page } = await site.visit({ signedIn: true });
  await page.goto("/?kind=file");
  return page;
}

const listed = (page: Page) =>
  page.getByRole("list", { name: newPush.filesChosen }).getByRole("listitem").locator("bdi").allTextContents();
const removeButton = (page: Page, filename: string) =>
  page.getByRole("button", { name: edit.removeFile({ filename }), exact: true });
const total = (count: string, size: string) => files.total({ count, countMax: "3", size, sizeMax: "1,000 bytes" });

/** Fires an event with these files at an element, as dropping and pasting do. */
async function transfer(page: Page, type: "drop" | "paste", names: readonly string[], at = "body", text = "") {
  await page.evaluate(
    `(() => {
      const data = new DataTransfer();
      for (const name of ${JSON.stringify(names)}) data.items.add(new File([name], name, { type: "image/png" }));
      if (${JSON.stringify(text)} !== "") data.setData("text/plain", ${JSON.stringify(text)});
      const options = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data };
      const Type = ${type === "drop" ? "DragEvent" : "ClipboardEvent"};
      document.querySelector("${at}").dispatchEvent(new Type("${type}", options));
    })()`,
  );
}

async function filesOf(page: Page): Promise<string[]> {
  const { files: stored } = await (await site.fetch(`/api/v2/pushes/${urlTokenOf(await createLink(page))}`)).json();
  return stored.map(({ filename }: { filename: string }) => filename);
}

describe("the file field", () => {
  it("adds the files of each choice, names each once, and removes them one by one", async () => {
    const page = await openForm();
    const form = newPushForm(page);
    await form.files.setInputFiles([file("a.txt"), file("b.txt")]);
    await form.files.setInputFiles([file("c.txt", 500)]);
    expect(await listed(page)).toEqual(["a.txt", "b.txt", "c.txt"]);
    await page.getByText(total("3", "506 bytes")).waitFor();

    await removeButton(page, "b.txt").click();
    expect(await listed(page)).toEqual(["a.txt", "c.txt"]);
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe(edit.removeFile({ filename: "c.txt" }));
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe(edit.removeFile({ filename: "a.txt" }));
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("push_files");
    expect(await listed(page)).toEqual([]);

    await form.files.setInputFiles([file("d.txt")]);
    expect(await filesOf(page)).toEqual(["d.txt"]);
  });

  it("takes files that are dropped anywhere on the page or pasted", async () => {
    const page = await openForm();
    await transfer(page, "drop", ["dropped.png"], "footer");
    await transfer(page, "paste", ["image.png"]);
    await transfer(page, "paste", ["image.png"], "#push_payload");
    expect(await listed(page)).toEqual(["dropped.png", "image.png", "image-2.png"]);
    expect(await filesOf(page)).toEqual(["dropped.png", "image.png", "image-2.png"]);
  });

  it("leaves pasted text to the text field, even if a picture comes with it", async () => {
    const page = await openForm();
    await transfer(page, "paste", ["image.png"], "#push_payload", "text");
    expect(await listed(page)).toEqual([]);
  });

  it("says that files are too many or too large before anything is sent", async () => {
    const page = await openForm();
    const form = newPushForm(page);
    const posted: string[] = [];
    page.on("request", (request) => request.method() === "POST" && posted.push(request.url()));
    await form.files.setInputFiles([file("a"), file("b"), file("c"), file("d")]);
    await page
      .getByRole("alert")
      .getByText(problems.files({ count: 3 }))
      .waitFor();
    await form.submit.click();
    await expectAccessibleLayout(page);
    await removeButton(page, "d").click();
    expect(await page.getByRole("alert").allTextContents()).toEqual([""]);

    await removeButton(page, "c").click();
    await form.files.setInputFiles([file("big", 995)]);
    await page
      .getByRole("alert")
      .getByText(problems.filesTooLarge({ size: "1,000 bytes" }))
      .waitFor();
    await form.submit.click();
    expect(posted).toEqual([]);
    await removeButton(page, "b").click();
    await removeButton(page, "a").click();
    expect(await filesOf(page)).toEqual(["big"]);
  });

  it("counts the files that an edited push keeps", async () => {
    const { page } = await site.visit({ signedIn: true });
    const stored = ["a.txt", "b.txt"].map((name) => ({ filename: name, data: Buffer.from(name).toString("base64") }));
    const push = await site.push({ files: stored }, "owned");
    await page.goto(`/p/${push.urlToken}/edit`);
    await page.getByText(total("2", "10 bytes")).waitFor();
    await page.locator("#push_files").setInputFiles([file("c"), file("d")]);
    await page
      .getByRole("alert")
      .getByText(problems.files({ count: 3 }))
      .waitFor();
    await page.getByLabel(edit.removeFile({ filename: "a.txt" })).check();
    await page.getByText(total("3", "11 bytes")).waitFor();
    expect(await page.getByRole("alert").allTextContents()).toEqual([""]);
  });
});
