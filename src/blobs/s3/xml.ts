/**
 * A minimal XML reader for S3's responses, whose relevant parts have neither attributes nor CDATA. Missing elements are
 * undefined, and no input throws.
 */

/** The text of the first element of this name. */
export function textOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? undefined : decoded(text);
}

/** The content of each element of this name. They must not be nested. */
export function elementsOf(xml: string, name: string): string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => rest.split(`</${name}>`, 1)[0] ?? "");
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w{2,4}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(entities, name) ? (entities[name] ?? whole) : whole;
    const codePoint = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : whole;
  });
}

export function encoded(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
