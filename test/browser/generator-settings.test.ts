import { expect, it } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { openSite } from "../support/site.ts";

const site = openSite({
  PWP__GEN__SYLLABLES_COUNT: "20",
  PWP__GEN__MIN_SYLLABLE_LENGTH: "3",
  PWP__GEN__MAX_SYLLABLE_LENGTH: "4",
  PWP__GEN__CONSONANTS: "бв",
  PWP__GEN__VOWELS: "я",
  PWP__GEN__HAS_NUMBERS: "false",
  PWP__GEN__SEPARATORS: `"<`,
});
const { generator } = en;

it("the operator's settings are what the password generator starts with, and the user can change them", async () => {
  const { page } = await site.visit();
  await page.goto("/");
  await page.getByText(generator.format, { exact: true }).click();
  await page.getByRole("button", { name: generator.heading }).click();
  const password = page.locator("#push_payload");
  expect(await page.getByRole("radio", { name: generator.syllables }).isChecked()).toBe(true);
  expect(await page.getByRole("slider").count()).toBe(1);
  expect(await password.inputValue()).toMatch(/^[БВ]я[бв]я?(?:["<][БВ]я[бв]я?){19}$/);

  await page.getByLabel(generator.digits, { exact: true }).check();
  await page.getByLabel(generator.capitals, { exact: true }).uncheck();
  await page.getByRole("slider", { name: generator.syllableCount, exact: true }).fill("2");
  expect(await password.inputValue()).toMatch(/^[бв]я[бв]я?\d["<][бв]я[бв]я?\d$/);

  await page.getByText(generator.password, { exact: true }).click();
  expect(await password.inputValue()).toMatch(/^[a-zA-Z2-9!#%*+\-.:=?@_]{20}$/);
});
