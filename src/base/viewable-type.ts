/**
 * Pictures and text. A PDF is not among them: browsers do not start their viewers for it in a sandbox, and a page of this
 * origin without a sandbox could be made of any file.
 */
const viewableTypes = /^(?:image\/(?:png|jpeg|gif|webp|avif)|text\/(?:plain|csv|markdown)|application\/json)$/;

/** Whether a file of this declared type may be one that `viewableTypeOf` recognises. */
export function mayBeViewable(contentType: string): boolean {
  return viewableTypes.test(contentType);
}

/** Where each format has which bytes, as Latin-1. */
const signatures = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF8"],
  ["image/webp", 8, "WEBP"],
  ["image/avif", 4, "ftypavif"],
] as const;
const beginningBytes = 16;

/** Control characters that texts do not contain. */
const notInTexts = /[^\P{Cc}\t\n\f\r]/u;

/**
 * The type of a file that browsers may show, by its content and not by what its sender says. SVG and HTML are texts.
 * @param first its first bytes, all of them if it is short.
 * @returns undefined: the file must be saved.
 */
export function viewableTypeOf(first: Uint8Array): string | undefined {
  const beginning = String.fromCharCode(...first.subarray(0, beginningBytes));
  const [picture] = signatures.find(([, at, bytes]) => beginning.startsWith(bytes, at)) ?? [];
  if (picture !== undefined) return picture;
  return isText(first) ? "text/plain; charset=utf-8" : undefined;
}

function isText(first: Uint8Array): boolean {
  try {
    // The last character may be cut.
    return !notInTexts.test(new TextDecoder("utf-8", { fatal: true }).decode(first, { stream: true }));
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
