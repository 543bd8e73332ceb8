import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { createLink, newPushForm, pathOf, urlTokenOf } from "../support/browser-forms.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite({ PWP__FILES__MAX_FILE_UPLOADS: "3", PWP__FILES__MAX_PUSH_BYTES: "1000" });
const largeSite = openSite();
const { edit, files, newPush, problems } = en;
/** What the server sends with every answer. */
const refusalHeaders = { "content-security-policy": "default-src 'none'", "referrer-policy": "no-referrer" };

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

  it.each(["drop", "paste"] as const)("is shown with what was typed after a %s on the form of a text", async (type) => {
    const { page } = await site.visit({ signedIn: true });
    await page.goto("/?kind=text");
    const form = newPushForm(page);
    await form.payload.fill("what they are");
    await form.views.fill("7");
    await transfer(page, type, ["dropped.png"], "#push_payload");
    expect(await listed(page)).toEqual(["dropped.png"]);
    expect(await page.evaluate("document.activeElement.id")).toBe("push_files");
    expect(await form.payload.inputValue()).toBe("what they are");
    expect(await form.views.inputValue()).toBe("7");
    await transfer(page, type, ["second.png"]);
    expect(await filesOf(page)).toEqual(["dropped.png", "second.png"]);
  });

  it("is not shown by a drop or a paste where files need an account, and the page is not left", async () => {
    const { page } = await site.visit();
    await page.goto("/");
    const form = newPushForm(page);
    await form.payload.fill("typed");
    await transfer(page, "drop", ["dropped.png"]);
    await transfer(page, "paste", ["image.png"]);
    const dragging = await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["x"], "dropped.png"));
      const event = new DragEvent("dragover", { bubbles: true, cancelable: true, dataTransfer });
      document.body.dispatchEvent(event);
      return event.defaultPrevented;
    })()`);
    expect(dragging).toBe(true);
    expect(await form.payload.inputValue()).toBe("typed");
    expect(await page.locator(".tab[aria-current]").textContent()).toBe(en.kinds.text);
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

describe("sending the files", () => {
  const large = { name: "large.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(900_000, "large") };

  it("happens before the form is sent, which only names them", async () => {
    const { page } = await largeSite.visit({ signedIn: true });
    await page.goto("/?kind=file");
    const sent: [method: string, path: string, size: number][] = [];
    page.on("request", (request) => {
      const path = new URL(request.url()).pathname.replace(/[\w-]{43}$/, ":upload");
      if (request.method() !== "GET") sent.push([request.method(), path, request.postDataBuffer()?.length ?? 0]);
    });
    await newPushForm(page).files.setInputFiles([large, file("a.txt")]);
    const urlToken = urlTokenOf(await createLink(page));
    expect(sent.map(([method, path]) => `${method} ${path}`)).toEqual([
      "POST /uploads",
      "PATCH /uploads/:upload",
      "POST /uploads",
      "PATCH /uploads/:upload",
      "POST /p",
    ]);
    const { files: stored } = await (await largeSite.fetch(`/api/v2/pushes/${urlToken}`)).json();
    expect(stored.map(({ filename }: { filename: string }) => filename)).toEqual(["large.bin", "a.txt"]);
    const download = await largeSite.fetch(pathOf(stored[0].url));
    expect(Buffer.from(await download.arrayBuffer()).equals(large.buffer)).toBe(true);
  });

  it("continues after a broken connection", async () => {
    const { page } = await largeSite.visit({ signedIn: true, expectedErrors: /ERR_FAILED|Failed to load/ });
    await page.goto("/?kind=file");
    let parts = 0;
    await page.route("/uploads/*", async (route) => {
      if (route.request().method() !== "PATCH") return await route.continue();
      parts += 1;
      if (parts > 1) return await route.continue();
      // The server gets half of the part before the connection breaks.
      const headers = await route.request().allHeaders();
      const body = route.request().postDataBuffer()?.subarray(0, 400_000) ?? Buffer.alloc(0);
      delete headers["content-length"];
      await page.context().request.fetch(route.request().url(), { method: "PATCH", headers, data: body });
      await route.abort();
    });
    await newPushForm(page).files.setInputFiles([large]);
    const offsets: string[] = [];
    page.on("request", async (request) => {
      if (request.method() === "PATCH") offsets.push((await request.headerValue("upload-offset")) ?? "");
    });
    await newPushForm(page).submit.click();
    await page.getByText(files.broken).waitFor();
    await page.getByRole("heading", { name: en.created.heading }).waitFor();
    expect(offsets).toEqual(["0", String(6 * 65_536)]);
  });

  it("can be cancelled, keeps the form and what has arrived, and goes on with the next attempt", async () => {
    const { page } = await largeSite.visit({ signedIn: true });
    await page.goto("/?kind=file");
    const form = newPushForm(page);
    let parts = 0;
    const reached = Promise.withResolvers<void>();
    await page.route("/uploads/*", async (route) => {
      if (route.request().method() !== "PATCH") return await route.continue();
      parts += 1;
      if (parts !== 2) return await route.continue();
      reached.resolve();
    });
    await form.files.setInputFiles([file("a.txt"), large]);
    await form.payload.fill("a message");
    await form.submit.click();
    await reached.promise;
    await expectAccessibleLayout(page);
    await page.getByRole("button", { name: files.cancel }).press("Enter");
    await page.locator("[data-sending]").waitFor({ state: "hidden" });
    expect(await form.submit.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(await form.payload.inputValue()).toBe("a message");
    await form.submit.click();
    await page.getByRole("heading", { name: en.created.heading }).waitFor();
    // The first file was not sent again.
    expect(parts).toBe(3);
  });

  it("removes a file from the server that is removed from the list", async () => {
    const { page } = await largeSite.visit({ signedIn: true });
    await page.goto("/?kind=file");
    const form = newPushForm(page);
    const reached = Promise.withResolvers<void>();
    await page.route("/uploads/*", async (route) => {
      const part = route.request();
      if (part.method() !== "PATCH" || (part.postDataBuffer()?.length ?? 0) <= 1_000) return await route.continue();
      reached.resolve();
    });
    await form.files.setInputFiles([large, file("a.txt")]);
    await form.submit.click();
    await reached.promise;
    const discarded = page.waitForResponse((response) => response.request().method() === "DELETE");
    await removeButton(page, "large.bin").click();
    expect((await discarded).status()).toBe(204);
    const urlToken = urlTokenOf(await page.getByLabel(en.created.link, { exact: true }).inputValue());
    const { files: stored } = await (await largeSite.fetch(`/api/v2/pushes/${urlToken}`)).json();
    expect(stored.map(({ filename }: { filename: string }) => filename)).toEqual(["a.txt"]);
  });

  it("leaves nothing on the server if the page is left before the form is sent", async () => {
    const { page } = await largeSite.visit({ signedIn: true });
    await page.goto("/?kind=file");
    const form = newPushForm(page);
    let parts = 0;
    const reached = Promise.withResolvers<void>();
    await page.route("/uploads/*", async (route) => {
      if (route.request().method() !== "PATCH") return await route.continue();
      parts += 1;
      if (parts === 1) return await route.continue();
      reached.resolve();
    });
    const paths: string[] = [];
    page.on("response", (response) => response.status() === 201 && paths.push(response.headers().location ?? ""));
    await form.files.setInputFiles([file("a.txt"), large]);
    await form.submit.click();
    await reached.promise;
    await page.goto("/api");
    expect(paths).toHaveLength(2);
    const headers = { "tus-resumable": "1.0.0" };
    // The browser sends the requests in the background.
    for (const path of paths) while ((await page.context().request.head(path, { headers })).status() !== 404);
  });

  it("happens with the form where uploads are refused", async () => {
    const { page } = await largeSite.visit({ signedIn: true, expectedErrors: /^\/uploads answered 404$/ });
    await page.goto("/?kind=file");
    await page.route("/uploads", (route) => route.fulfill({ status: 404, headers: refusalHeaders }));
    await newPushForm(page).files.setInputFiles([large]);
    const urlToken = urlTokenOf(await createLink(page));
    const { files: stored } = await (await largeSite.fetch(`/api/v2/pushes/${urlToken}`)).json();
    expect(stored.map(({ filename }: { filename: string }) => filename)).toEqual(["large.bin"]);
  });
});
