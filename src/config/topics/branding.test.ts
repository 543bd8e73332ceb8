import { describe, expect, it } from "vitest";
import { loadValid, mistakesOf } from "../../../test/support/settings.ts";

describe("the address of a logo", () => {
  it.each([
    ["https://static.example.com/a/l.png", "https://static.example.com/a/l.png", "https://static.example.com/a/l.png"],
    ["https://static.example.com:8443/l", "https://static.example.com:8443/l", "https://static.example.com:8443/l"],
    ["HTTPS://Bücher.Example/l", "https://xn--bcher-kva.example/l", "https://xn--bcher-kva.example/l"],
    [
      "https://static.example.com/a;b,c?v=2",
      "https://static.example.com/a;b,c?v=2",
      "https://static.example.com/a%3Bb%2Cc",
    ],
    ["/static/logo.png?v=2", "/static/logo.png?v=2", "/static/logo.png"],
  ])("%s", (given, href, source) => {
    const { config, warnings } = loadValid({ PWP__BRAND__LIGHT_LOGO: given });
    expect(config.appearance.logo).toEqual({ light: href, dark: href });
    expect(config.imageSources).toEqual([source]);
    expect(warnings).toEqual([]);
  });

  it.each([
    "http://static.example.com/logo.png",
    "//static.example.com/logo.png",
    "/\\static.example.com/logo.png",
    "https://user:word@static.example.com/logo.png",
    "https://a;script-src/logo.png",
    "https://a,b/logo.png",
    "https://*/logo.png",
    "https://static.example.com/logo.png 2x",
    "data:image/png;base64,AAAA",
    "images/logo.png",
    `https://static.example.com/${"a".repeat(2_000)}`,
  ])("%s stops the start", (given) => {
    expect(mistakesOf({ PWP__BRAND__DARK_LOGO: given })).toEqual([
      expect.stringContaining("an https address, or a path that begins with a slash"),
    ]);
  });

  it("a file of Password Pusher's image only causes a warning", () => {
    const { config, warnings } = loadValid({ PWP__BRAND__LIGHT_LOGO: "logo-transparent-sm-bare.png" });
    expect(config.appearance.logo.light).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/^PWP__BRAND__LIGHT_LOGO .*upload the logo at \/admin\/look/)]);
  });
});

it("texts of the pages have a limit and one line", () => {
  expect(loadValid({ PWP__BRAND__DISCLAIMER: "ä".repeat(2_000) }).config.appearance.disclaimer).toHaveLength(2_000);
  expect(mistakesOf({ PWP__BRAND__DISCLAIMER: "a".repeat(2_001) })).toHaveLength(1);
  expect(mistakesOf({ PWP__BRAND__TAGLINE: "a".repeat(121) })).toHaveLength(1);
  expect(mistakesOf({ PWP__BRAND__TAGLINE: "one\ntwo" })).toHaveLength(1);
});

describe("the languages of an instance", () => {
  const enabledTags = (PWP__ENABLED_LANGUAGE_CODES: string, more: Readonly<Record<string, string>> = {}) => {
    const { config, warnings } = loadValid({ PWP__ENABLED_LANGUAGE_CODES, ...more });
    return { tags: config.languages.map(({ locale }) => locale.tag), warnings };
  };

  it("are those that are named, and supported", () => {
    expect(enabledTags("en, DE,pt-br")).toEqual({ tags: ["en", "de", "pt-BR"], warnings: [] });
    expect(enabledTags("sv,en,:fr")).toEqual({
      tags: ["en", "fr"],
      warnings: ["PWP__ENABLED_LANGUAGE_CODES names languages that are not supported, and are left out: sv."],
    });
  });

  it("always include the default language", () => {
    const added = expect.stringContaining("English (en), which people can choose all the same");
    expect(enabledTags("de")).toEqual({ tags: ["en", "de"], warnings: [added] });
    expect(enabledTags("de", { PWP__DEFAULT_LOCALE: "de" })).toEqual({ tags: ["de"], warnings: [] });
    expect(enabledTags("tlh").tags).toEqual(["en"]);
  });

  it("cannot be a list that is not understood", () => {
    for (const text of [",", "de;fr", "<de>", "de,".repeat(101)]) {
      expect(mistakesOf({ PWP__ENABLED_LANGUAGE_CODES: text }), text).toHaveLength(1);
    }
  });
});
