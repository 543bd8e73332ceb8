import { makeLinkKey } from "@sealpush/age/link-key";
import { oneTimeCode } from "@sealpush/age/one-time-code";
import { sealText } from "@sealpush/age/seal";
import { writePayload } from "@sealpush/age/sealed-content";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
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
      await page.getByRole("button", { name: secret.copyField({ label: fields[at].label }) }).click();
      await page.getByText(actions.copied).waitFor();
      expect(await read()).toBe(expected);
      await page.getByText(actions.copied).waitFor({ state: "hidden" });
    }
    await page.getByRole("button", { name: secret.copyField({ label: "Code" }) }).click();
    await page.getByText(actions.copied).waitFor();
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
