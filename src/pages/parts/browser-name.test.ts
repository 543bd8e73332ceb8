import { describe, expect, it } from "vitest";
import { languages } from "../../i18n/i18n.ts";
import { browserName } from "./browser-name.ts";

const [english] = languages;

describe("browserName", () => {
  it.each([
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Windows"],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
      "Safari on iOS",
    ],
    ["curl/8.5.0", "curl"],
    ["", "Unknown browser"],
    ["   ", "Unknown browser"],
    ["\u0000", "Unknown browser"],
  ])("names %j", (userAgent, name) => {
    if (english === undefined) throw new Error("There is no language.");
    expect(browserName(userAgent, english)).toBe(name);
  });

  it("stays short for any user agent", () => {
    if (english === undefined) throw new Error("There is no language.");
    for (const userAgent of ["a".repeat(100_000), "<b>/".repeat(9_000), "Mozilla/".repeat(9_000), "(".repeat(9_000)]) {
      expect(browserName(userAgent, english).length).toBeLessThan(150);
    }
  });
});
