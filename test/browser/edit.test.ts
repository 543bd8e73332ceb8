import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { openSite, type SitePush } from "../support/site.ts";

const site = openSite();
const { edit, newPush } = en;

const fileOf = (name: string, content: string) => ({
  filename: name,
  content_type: "text/plain",
  data: Buffer.from(content).toString("base64"),
});

async function opened({ urlToken }: SitePush, passphrase = "") {
  const answer = await site.fetch(`/api/v2/pushes/${urlToken}`, { headers: { "x-push-passphrase": passphrase } });
  const { payload, files = [] } = await answer.json();
  return { status: answer.status, payload, files: files.map((file: { filename: string }) => file.filename) };
}

describe.each([
  ["with scripts", { signedIn: true, javaScriptEnabled: true } as const],
  ["without scripts", { signedIn: true, javaScriptEnabled: false } as const],
])("editing a push %s", (how, options) => {
  it("opens from the dashboard, changes limits, labels and content, and is logged", async () => {
    const { page } = await site.visit(options);
    const name = `VPN ${how}`;
    const push = await site.push({ payload: "old", name, expire_after_days: 3, expire_after_views: 9 }, "owned");
    await page.goto("/p");
    await page.getByRole("link", { name: `${en.dashboard.edit} ${name}` }).click();
    await page.getByRole("heading", { name: edit.heading }).waitFor();
    expect(await page.getByLabel(newPush.days, { exact: true }).inputValue()).toBe("3");
    expect(await page.getByLabel(newPush.name, { exact: true }).inputValue()).toBe(name);
    await page.getByLabel(newPush.days, { exact: true }).fill("30");
    await page.getByLabel(newPush.views, { exact: true }).fill("12");
    await page.getByLabel(newPush.note, { exact: true }).fill("for Jo");
    await page.getByText(newPush.more).click();
    await page.getByLabel(newPush.deletable).uncheck();
    await page.getByLabel(edit.newContent.text, { exact: true }).fill("new\nlines");
    await page.getByRole("button", { name: edit.submit }).click();
    await page.waitForURL(`**/p/${push.urlToken}/preview`);
    expect(await site.ownPush(push.urlToken)).toMatchObject({
      expire_after_days: 30,
      expire_after_views: 12,
      note: "for Jo",
      deletable_by_viewer: false,
    });
    expect(await opened(push)).toMatchObject({ payload: "new\nlines" });
    expect(await site.auditKinds(push.urlToken)).toEqual(["creation", "edit", "view"]);
  });

  it("adds and removes files", async () => {
    const { page } = await site.visit(options);
    const files = [fileOf("a.txt", "in a"), fileOf("b.txt", "in b")];
    const push = await site.push({ payload: "message", files, expire_after_views: 9 }, "owned");
    await page.goto(`/p/${push.urlToken}/edit`);
    await page.getByLabel(edit.removeFile({ filename: "a.txt" })).check();
    const added = { name: "c.txt", mimeType: "text/plain", buffer: Buffer.from("in c") };
    await page.locator("#push_files").setInputFiles(added);
    await page.getByRole("button", { name: edit.submit }).click();
    await page.waitForURL(/preview$/);
    expect(await opened(push)).toEqual({ status: 200, payload: "message", files: ["b.txt", "c.txt"] });
  });

  it("needs the passphrase of a protected push, and keeps what was typed if it is wrong", async () => {
    const { page } = await site.visit(options);
    const push = await site.push({ payload: "old", passphrase: "phrase" }, "owned");
    await page.goto(`/p/${push.urlToken}/edit`);
    await page.getByText(edit.changePassphrase).click();
    await page.getByText(edit.protectedWhole).waitFor();
    const current = page.getByLabel(edit.currentPassphrase, { exact: true });
    for (const [given, problem] of [
      ["", edit.passphraseNeeded],
      ["wrong", edit.wrongPassphrase],
    ] as const) {
      await page.getByLabel(edit.newContent.text, { exact: true }).fill("new secret");
      await current.fill(given);
      await page.getByRole("button", { name: edit.submit }).click();
      await page.locator("#push_current_passphrase_problem").getByText(problem).waitFor();
      expect(await page.getByLabel(edit.newContent.text, { exact: true }).inputValue()).toBe("new secret");
      // The server never sends it back.
      expect(await current.inputValue()).toBe(options.javaScriptEnabled ? given : "");
    }
    await current.fill("phrase");
    await page.getByRole("button", { name: edit.submit }).click();
    await page.waitForURL(/preview$/);
    expect(await opened(push, "phrase")).toMatchObject({ payload: "new secret" });

    await page.goto(`/p/${push.urlToken}/edit`);
    await page.getByLabel(edit.newContent.text, { exact: true }).fill("everything anew");
    await page.getByText(edit.changePassphrase).click();
    await page.getByLabel(edit.removePassphrase).check();
    await page.getByRole("button", { name: edit.submit }).click();
    await page.waitForURL(/preview$/);
    expect(await opened(push)).toMatchObject({ payload: "everything anew" });
  });

  it("deletes the push", async () => {
    const { page } = await site.visit(options);
    const push = await site.push({ payload: "old" }, "owned");
    await page.goto(`/p/${push.urlToken}/edit`);
    await page.getByText(edit.end, { exact: true }).click();
    await page.getByRole("button", { name: edit.endConfirm }).click();
    await page.waitForURL(/\/p$/);
    expect((await page.goto(`/p/${push.urlToken}/edit`))?.status()).toBe(404);
  });
});

describe("the form's scripts", () => {
  it("suggest a passphrase, generate a secret, and list the chosen files", async () => {
    const { page } = await site.visit({ signedIn: true });
    const push = await site.push({ payload: "old" }, "owned");
    await page.goto(`/p/${push.urlToken}/edit`);
    await page.getByRole("button", { name: newPush.suggestPassphrase }).click();
    expect(await page.locator("#push_passphrase").inputValue()).not.toBe("");
    await page.getByRole("button", { name: en.generator.heading }).click();
    expect(await page.locator("#push_payload").inputValue()).not.toBe("");
    const withFiles = await site.push({ files: [fileOf("a.txt", "a")] }, "owned");
    await page.goto(`/p/${withFiles.urlToken}/edit`);
    await page
      .locator("#push_files")
      .setInputFiles({ name: "c.txt", mimeType: "text/plain", buffer: Buffer.from("c") });
    await page.getByRole("list", { name: newPush.filesChosen }).getByText("c.txt").waitFor();
  });
});
