import { makeLinkKey } from "@sealpush/age/link-key";
import { oneTimeCode } from "@sealpush/age/one-time-code";
import { sealText } from "@sealpush/age/seal";
import { writePayload } from "@sealpush/age/sealed-content";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { copyBy, createLink, kindTab, newPushForm, sendForm } from "../support/browser-forms.ts";
import { expectAccessibleLayout } from "../support/layout-tests.ts";
import { openSite } from "../support/site.ts";

const site = openSite();
const { actions, secret, step } = en;

const seed = "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example";
const password = "corréct horse\n <b>battery</b>";
const fields = [
  { label: "Address", value: "https://example.com/login?a=1", type: "text" },
  { label: "User <i>", value: "ada", type: "text" },
  { label: "Script", value: "javascript:alert(1)", type: "text" },
  { label: "كلمة المرور", value: password, type: "secret" },
  { label: "Code", value: seed, type: "otp" },
] as const;

/** Whether the code is the current one, also if it has just changed. */
function expectCurrentCode(code: string | null): void {
  const now = Date.now();
  expect([now - 30_000, now].map((at) => oneTimeCode(seed, at)?.code)).toContain(code);
}

async function openFields(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("button", { name: step.open }).click();
  await page.locator("#field_0").waitFor();
  await page.waitForLoadState();
}

async function sealedPath(): Promise<string> {
  const key = await makeLinkKey();
  const payload = await sealText(writePayload({ text: "", fields, files: [] }), key.recipient, "");
  const { path } = await site.push({ payload, encryption: "age", encryption_check: key.check });
  return `${path}#${key.identity}`;
}

describe.each([
  ["that the server knows", async () => (await site.push({ fields })).path],
  ["that were sealed end to end", sealedPath],
])("fields %s", (_how, pathOf) => {
  it("are rows, of which each can be copied; the secret is hidden, and the code is live", async () => {
    const { page, context } = await site.visit();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openFields(page, await pathOf());
    const link = page.locator("a#field_0");
    expect([await link.getAttribute("href"), await link.getAttribute("rel")]).toEqual([
      "https://example.com/login?a=1",
      "noreferrer noopener nofollow",
    ]);
    expect(await page.locator("#field_1").textContent()).toBe("ada");
    expect(await page.locator("#field_2").evaluate((element) => element.tagName)).toBe("PRE");
    const labels = await page.locator(".secret-fields dt").allTextContents();
    expect(labels).toEqual(fields.map(({ label }) => label));

    const hidden = page.locator("#field_3");
    expect(await hidden.isVisible()).toBe(false);
    await page.locator(".secret-field", { has: hidden }).getByText(actions.show).click();
    expect(await hidden.isVisible()).toBe(true);
    expect(await hidden.textContent()).toBe(password);

    expectCurrentCode(await page.locator("#field_4_code").textContent());
    expect(await page.locator("[data-one-time-left]").textContent()).toMatch(/^\d{1,2} s left$/);
    const read = () => page.evaluate("navigator.clipboard.readText()");
    for (const [at, expected] of [
      [1, "ada"],
      [3, password],
    ] as const) {
      await copyBy(page, () =>
        page.getByRole("button", { name: secret.copyField({ label: fields[at].label }) }).click(),
      );
      expect(await read()).toBe(expected);
      await page.getByText(actions.copied).waitFor({ state: "hidden" });
    }
    await copyBy(page, () => page.getByRole("button", { name: secret.copyField({ label: "Code" }) }).click());
    expectCurrentCode(String(await read()));
    await expectAccessibleLayout(page);
  });
});

it("without scripts, fields are rows too, and the seed of the code can be shown", async () => {
  const { page } = await site.visit({ javaScriptEnabled: false });
  const { path } = await site.push({ fields });
  await openFields(page, path);
  expect(await page.locator("#field_1").textContent()).toBe("ada");
  expect(await page.locator("#field_3").isVisible()).toBe(false);
  await page.getByText(secret.codeSeed).click();
  expect(await page.locator("#field_4").textContent()).toBe(seed);
  expect(await page.locator("#field_4_code").isVisible()).toBe(false);
});

const texts = en.newPush.fields;

/** The row with this position in the form. */
const rowOf = (page: Page, at: number) => page.locator(".field-row").nth(at);

async function fillRow(page: Page, at: number, [label, value]: readonly [string | undefined, string]): Promise<void> {
  if (label !== undefined) await rowOf(page, at).getByLabel(texts.label).fill(label);
  await rowOf(page, at).getByLabel(texts.value).fill(value);
}

describe.each([
  ["not sealed", false],
  ["sealed in the browser", true],
])("the form, %s", (_how, isSealed) => {
  it("makes a structured secret from a template and from a row of one's own", async () => {
    const { page } = await site.visit();
    await page.goto("/");
    await page.getByRole("button", { name: texts.add }).click();
    await page.getByRole("button", { name: texts.templates.login }).click();
    expect(await page.locator(".field-row").count()).toBe(4);
    await fillRow(page, 1, [undefined, "ada"]);
    await fillRow(page, 2, [undefined, password]);
    await page.getByRole("button", { name: texts.addOne }).click();
    await fillRow(page, 4, ["PIN", "1234"]);
    await rowOf(page, 4).getByLabel(texts.type).selectOption("secret");
    await expectAccessibleLayout(page);
    if (isSealed) await page.getByLabel(en.endToEnd.seal).check();
    const link = await createLink(page);
    const { page: recipient } = await site.visit();
    await openFields(recipient, link);
    expect(await recipient.locator(".secret-fields dt").allTextContents()).toEqual([
      texts.labels.user,
      texts.labels.password,
      "PIN",
    ]);
    expect(await recipient.locator("#field_1").textContent()).toBe(password);
    expect(await recipient.locator("#field_2").isVisible()).toBe(false);
  });

  it("checks the fields before it is sent, and says what is wrong at each", async () => {
    const { page } = await site.visit();
    await page.goto("/");
    await page.getByRole("button", { name: texts.add }).click();
    if (isSealed) await page.getByLabel(en.endToEnd.seal).check();
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    const { submit } = newPushForm(page);
    await submit.click();
    await page.getByText(texts.problems.count).waitFor();
    await fillRow(page, 0, ["", "typed without a label"]);
    await submit.click();
    await page.getByText(texts.problems.label_missing).waitFor();
    expect(await rowOf(page, 0).getByLabel(texts.label).getAttribute("aria-invalid")).toBe("true");
    await fillRow(page, 0, ["Code", "123456"]);
    await rowOf(page, 0).getByLabel(texts.type).selectOption("otp");
    await page.getByText(texts.problems.otp).waitFor();
    await rowOf(page, 0).getByLabel(texts.value).fill(` ${seed}\n`);
    expect(await page.locator("[data-row-problem]:visible").count()).toBe(0);
    expect(sent).toEqual([]);
    await createLink(page);
  });
});

it("a row is named after its label, its problem describes its fields, and the focus stays when a row is removed", async () => {
  const { page } = await site.visit();
  await page.goto("/");
  await page.getByRole("button", { name: texts.add }).click();
  await page.getByRole("button", { name: texts.templates.login }).click();
  const { address, user, password: secretLabel, code } = texts.labels;
  const row = (name: string) => page.getByRole("group", { name, exact: true });
  const focusedRow = () => page.evaluate(() => document.activeElement?.closest(".field-row")?.ariaLabel);
  await row(code).getByRole("button", { name: texts.remove }).press("Enter");
  expect(await focusedRow()).toBe(secretLabel);
  await row(address).getByRole("button", { name: texts.remove }).press("Enter");
  expect(await focusedRow()).toBe(user);
  for (const _row of [user, secretLabel]) await page.keyboard.press("Enter");
  expect(await page.locator(".field-row").count()).toBe(0);
  // The button that adds one.
  await page.keyboard.press("Enter");
  await page.keyboard.type("PIN");

  await newPushForm(page).submit.click();
  await page.getByText(texts.problems.value_missing).waitFor();
  const value = row("PIN").getByLabel(texts.value);
  expect(await value.evaluate((field) => field === document.activeElement)).toBe(true);
  const description = await value.getAttribute("aria-describedby");
  expect(await page.locator(`#${description}`).textContent()).toBe(texts.problems.value_missing);
});

it("another kind and a text instead keep what was typed", async () => {
  const { page } = await site.visit();
  await page.goto("/");
  const { payload } = newPushForm(page);
  await payload.fill("a text");
  await page.getByRole("button", { name: texts.add }).click();
  await fillRow(page, 0, ["PIN", "1234"]);
  expect(await payload.isVisible()).toBe(false);
  await kindTab(page, en.kinds.url).click();
  expect(await payload.inputValue()).toBe("a text");
  await kindTab(page, en.kinds.text).click();
  expect(await rowOf(page, 0).getByLabel(texts.value).inputValue()).toBe("1234");
  await page.getByRole("button", { name: texts.useText }).click();
  expect(await payload.inputValue()).toBe("a text");
  expect(await page.locator('[name="push[fields]"]').inputValue()).toBe("");
});

it("the rows come back when the server refuses the form, and nothing of them stays once the link is made", async () => {
  const { page } = await site.visit();
  await page.goto("/");
  await page.getByRole("button", { name: texts.add }).click();
  await fillRow(page, 0, ["PIN", "1234"]);
  await page.locator("#push_expire_after_views").evaluate((field) => field.removeAttribute("max"));
  await page.locator("#push_expire_after_views").fill("1000");
  await sendForm(page);
  expect(await rowOf(page, 0).getByLabel(texts.value).inputValue()).toBe("1234");
  await page.locator("#push_expire_after_views").fill("1");
  await createLink(page);
  await page.goBack();
  await page.locator("#push_payload").waitFor();
  expect(await page.locator('[name="push[fields]"]').inputValue()).toBe("");
  expect(await page.locator(".field-row").count()).toBe(0);
});
