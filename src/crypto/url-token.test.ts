import { describe, expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { decodeReadable, encodeReadable } from "./readable-encoding.ts";
import { fixedRandom, hex, withFlippedBit } from "./test-support.ts";
import { createUrlTokens } from "./url-token.ts";
import vectors from "./vectors.json" with { type: "json" };

const urlTokens = createUrlTokens(Buffer.alloc(32, 7));
const tokenBytes = 20;

describe("url_tokens", () => {
  test.each(vectors.urlToken)("$source", ({ indexSecret, random, pushId, token, check, importedDigest }) => {
    const known = createUrlTokens(hex(indexSecret));
    expect(known.make(pushId, fixedRandom(random))).toBe(token);
    const address = known.addressOf(token);
    expect(address.pushId).toBe(pushId);
    expect(address.check.toString("hex")).toBe(check);
    expect(address.importedDigest().toString("hex")).toBe(importedDigest);
  });

  test.each([1, 2, 1_000_000, 2 ** 47, 2 ** 48 - 1])("a url_token names the push %i", (pushId) => {
    const urlToken = urlTokens.make(pushId, systemRandom);
    expect(urlToken).toMatch(/^[0-9a-hjkmnp-tv-z]{32}$/);
    expect(urlTokens.addressOf(urlToken).pushId).toBe(pushId);
  });

  test("url_tokens of one push are different each time, in the part that names the push as well", () => {
    const tokens = Array.from({ length: 1_000 }, () => urlTokens.make(1, systemRandom));
    expect(new Set(tokens).size).toBe(tokens.length);
    // The last nine characters encode the encrypted id alone.
    expect(new Set(tokens.map((token) => token.slice(-9))).size).toBe(tokens.length);
  });

  test("with any bit flipped, a url_token has another check; in the id it names a neighbour", () => {
    const urlToken = urlTokens.make(4_711, systemRandom);
    const { check } = urlTokens.addressOf(urlToken);
    const bytes = decodeReadable(urlToken, tokenBytes) ?? Buffer.alloc(0);
    for (let at = 0; at < tokenBytes; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const other = urlTokens.addressOf(encodeReadable(withFlippedBit(bytes, at, bit)));
        expect(other.check.equals(check)).toBe(false);
      }
    }
    const neighbour = urlTokens.addressOf(encodeReadable(withFlippedBit(bytes, tokenBytes - 1)));
    expect(neighbour.pushId).toBe(4_710);
  });

  test("without the index secret a url_token names another row", () => {
    const others = createUrlTokens(Buffer.alloc(32, 8));
    const named = Array.from({ length: 100 }, () => others.addressOf(urlTokens.make(1, systemRandom)).pushId);
    expect(named).not.toContain(1);
  });

  test.each([
    ["an empty text", ""],
    ["the token of another server", "kHb8Lx_2-Qw"],
    ["a token that is too short", "0".repeat(31)],
    ["a token that is too long", "0".repeat(33)],
    ["capital letters", "A".repeat(32)],
    ["an ambiguous letter", `${"0".repeat(31)}l`],
    ["another script", "ä".repeat(32)],
  ])("%s names no push but has a check and a digest", (_, text) => {
    const address = urlTokens.addressOf(text);
    expect(address.pushId).toBe(0);
    expect([address.check.length, address.importedDigest().length]).toEqual([16, 32]);
  });
});

describe("readable encoding", () => {
  test("encodes five bits per character, the first bits first", () => {
    expect(encodeReadable(hex("0000000000"))).toBe("00000000");
    expect(encodeReadable(hex("ffffffffff"))).toBe("zzzzzzzz");
    expect(encodeReadable(hex("00443214c7"))).toBe("01234567");
  });

  test("decodes what it encodes", () => {
    for (let round = 0; round < 100; round += 1) {
      const bytes = systemRandom.bytes(tokenBytes);
      expect(decodeReadable(encodeReadable(bytes), tokenBytes)).toEqual(bytes);
    }
  });
});
