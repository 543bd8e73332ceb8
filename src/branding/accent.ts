/**
 * The shades that the style sheets derive from an accent colour, for light and for dark pages. Contrasts are those of WCAG 2.2
 * ("relative luminance", "contrast ratio").
 */

type Colour = readonly [red: number, green: number, blue: number];

/** Success criterion 1.4.3, for text. */
export const contrastMin = 4.5;

/** Colours of tokens.css and dark.css: the backgrounds on which the accent has the least contrast. */
const lightSunken = colourOf("#eceeea");
const darkSurface = colourOf("#171f1d");
const white = colourOf("#ffffff");
const black = colourOf("#000000");
/** More than the least: links of dark pages are read, not only found. */
const darkContrast = 6;
const steps = 20;

export type AccentProblem =
  | { readonly reason: "malformed" }
  | { readonly reason: "too_light"; readonly contrast: number };

/** @param text `#` and six hex digits. @returns undefined: allowed. `contrast`: with the lightest background of text. */
export function accentProblem(text: string): AccentProblem | undefined {
  if (!/^#[0-9a-f]{6}$/.test(text)) return { reason: "malformed" };
  const contrast = contrastOf(colourOf(text), lightSunken);
  return contrast < contrastMin ? { reason: "too_light", contrast } : undefined;
}

/**
 * A style sheet that replaces the product's accent. Browsers without `light-dark()` keep the product's.
 * @param text for which `accentProblem` finds nothing.
 */
export function accentSheet(text: string): string {
  const light = lightShades(colourOf(text));
  const dark = darkShades(colourOf(text));
  const names = Object.keys(light) as (keyof typeof light)[];
  const both = names.map((name) => `--${name}:light-dark(${light[name]},${dark[name]})`).join(";");
  const onPaper = names.map((name) => `--${name}:${light[name]}`).join(";");
  return `@supports (color:light-dark(red,red)){@layer design{:root{${both}}@media print{:root{${onPaper}}}}}`;
}

export function lightShades(accent: Colour) {
  return {
    accent: hex(accent),
    "accent-strong": hex(mix(accent, black, 0.25)),
    "accent-soft": hex(mix(accent, white, 0.9)),
    "on-accent": hex(white),
    tint: `${hex(accent)}20`,
  };
}

/** The accent becomes lighter until it can be read on dark surfaces. */
export function darkShades(accent: Colour): ReturnType<typeof lightShades> {
  const lighter = Array.from({ length: steps + 1 }, (_, step) => mix(accent, white, step / steps));
  const shown = lighter.find((colour) => contrastOf(colour, darkSurface) >= darkContrast) ?? white;
  return {
    accent: hex(shown),
    "accent-strong": hex(mix(shown, white, 0.25)),
    "accent-soft": hex(mix(shown, darkSurface, 0.85)),
    "on-accent": hex(mix(accent, black, 0.75)),
    tint: `${hex(shown)}1a`,
  };
}

/** @param text `#rrggbb`. */
export function colourOf(text: string): Colour {
  const channel = (at: number) => Number.parseInt(text.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

function hex(colour: Colour): string {
  return `#${colour.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** @param share of `other`, 0 to 1. */
function mix(colour: Colour, other: Colour, share: number): Colour {
  const channel = (at: 0 | 1 | 2) => Math.round(colour[at] * (1 - share) + other[at] * share);
  return [channel(0), channel(1), channel(2)];
}

export function contrastOf(one: Colour, other: Colour): number {
  const [lighter = 0, darker = 0] = [luminanceOf(one), luminanceOf(other)].sort((left, right) => right - left);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
