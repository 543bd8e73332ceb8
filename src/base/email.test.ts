import { describe, expect, it } from "vitest";
import { normalizeEmail } from "./email.ts";

describe("normalizeEmail", () => {
  it.each([
    ["ada@example.com", "ada@example.com"],
    ["  Ada.Lovelace+push@Example.COM\n", "ada.lovelace+push@example.com"],
    ["root@localhost", "root@localhost"],
    ["o'brien@mail.example.ie", "o'brien@mail.example.ie"],
    ["jose\u0301@example.com", "jos\u00e9@example.com"],
    ["post@bücher.example", "post@bücher.example"],
  ])("reads %j", (given, address) => {
    expect(normalizeEmail(given)).toBe(address);
  });

  it.each([
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@@example.com",
    "a b@example.com",
    "ada@exa mple.com",
    "ada@-example.com",
    "ada@example..com",
    ".ada@example.com",
    "ada.@example.com",
    "a..da@example.com",
    '"ada"@example.com',
    "<ada@example.com>",
    "ada@example.com,eve@example.com",
    "ada\u0000@example.com",
    "ada\u202e@example.com",
    "ada@exam\u200bple.com",
    `${"a".repeat(65)}@example.com`,
    `ada@${"a".repeat(64)}.com`,
    `ada@${"abc.".repeat(70)}com`,
    "a".repeat(1_000_000),
  ])("refuses text that is not an address: case %#", (given) => {
    expect(normalizeEmail(given)).toBeUndefined();
  });

  it("accepts 254 octets and no more", () => {
    const local = "a".repeat(64);
    const domain = `${"b".repeat(61)}.${"c".repeat(61)}.${"d".repeat(61)}.eee`;
    expect(`${local}@${domain}`).toHaveLength(254);
    expect(normalizeEmail(`${local}@${domain}`)).toBe(`${local}@${domain}`);
    expect(normalizeEmail(`${local}@${domain}e`)).toBeUndefined();
  });
});
