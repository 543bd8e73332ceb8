import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { accentProblem, accentSheet, colourOf, contrastMin, contrastOf, darkShades, lightShades } from "./accent.ts";

/** Every twelfth shade of each channel, with the darkest and the lightest. */
const channels = [...Array.from({ length: 22 }, (_, step) => step * 12), 255];
const all = channels.flatMap((red) =>
  channels.flatMap((green) =>
    channels.map((blue) => `#${[red, green, blue].map((channel) => channel.toString(16).padStart(2, "0")).join("")}`),
  ),
);
const allowed = all.filter((colour) => accentProblem(colour) === undefined);

function colourIn(file: string, name: string): string {
  const sheet = readFileSync(new URL(`../pages/design/${file}`, import.meta.url), "utf8");
  const value = new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(sheet)?.[1];
  if (value === undefined) throw new Error(`${file} has no --${name}.`);
  return value;
}

function leastContrast(file: string, shades: ReturnType<typeof lightShades>): number {
  const contrast = (one: string, other: string) => contrastOf(colourOf(one), colourOf(other));
  return Math.min(
    ...["paper", "surface", "sunken"].map((name) => contrast(shades.accent, colourIn(file, name))),
    contrast(shades["on-accent"], shades.accent),
    contrast(shades["on-accent"], shades["accent-strong"]),
    contrast(shades["accent-strong"], shades["accent-soft"]),
    contrast(colourIn(file, "ink"), shades["accent-soft"]),
  );
}

describe("an accent colour", () => {
  it("is measured as WCAG's own examples are", () => {
    expect(contrastOf(colourOf("#000000"), colourOf("#ffffff"))).toBeCloseTo(21, 5);
    expect(contrastOf(colourOf("#777777"), colourOf("#ffffff"))).toBeCloseTo(4.48, 2);
  });

  it("is refused if text in it could not be read, with its contrast", () => {
    expect(accentProblem("#0e5c4a")).toBeUndefined();
    expect(accentProblem("#f5a623")).toEqual({ reason: "too_light", contrast: expect.closeTo(1.73, 1) });
    for (const text of ["", "red", "#fff", "#0E5C4A", "#0e5c4a;}", " #0e5c4a"]) {
      expect(accentProblem(text)).toEqual({ reason: "malformed" });
    }
  });

  it("leaves every text readable on light and on dark pages, whichever is allowed", { timeout: 60_000 }, () => {
    expect(allowed.length).toBeGreaterThan(1_000);
    const unreadable = allowed.filter(
      (colour) =>
        leastContrast("tokens.css", lightShades(colourOf(colour))) < contrastMin ||
        leastContrast("dark.css", darkShades(colourOf(colour))) < contrastMin,
    );
    expect(unreadable).toEqual([]);
  });

  it("becomes a style sheet that sets the product's own variables only", () => {
    expect(accentSheet("#0b3d91")).toBe(
      "@supports (color:light-dark(red,red)){@layer design{:root{--accent:light-dark(#0b3d91,#859ec8);" +
        "--accent-strong:light-dark(#082e6d,#a4b6d6);--accent-soft:light-dark(#e7ecf4,#283237);--on-accent:light-dark(#ffffff,#030f24);" +
        "--tint:light-dark(#0b3d9120,#859ec81a)}@media print{:root{--accent:#0b3d91;--accent-strong:#082e6d;--accent-soft:#e7ecf4;" +
        "--on-accent:#ffffff;--tint:#0b3d9120}}}}",
    );
  });
});
