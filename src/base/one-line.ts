/**
 * Control characters, ends of lines, and what hides or reverses the text next to it. The joiners U+200C and U+200D are none of
 * these: emoji, and words in Persian and Indic scripts, are made with them.
 */
const hidden = "(?![\\u200c\\u200d])[\\p{C}\\p{Zl}\\p{Zp}]";
/** The flags of England, Scotland and Wales contain tag characters, in which a text can be hidden elsewhere. */
const taggedFlags = /\p{RGI_Emoji_Tag_Sequence}/gv;
const hiddenCharacter = new RegExp(hidden, "u");
const flagOrHiddenOrBlank = new RegExp(`(${taggedFlags.source})|(?:${hidden}|\\s)+`, "gv");
const seen = /[^\s\u200c\u200d]/;

/** Whether the text can be shown as a name: a line of which something is seen, and nothing is hidden. */
export function isVisibleLine(text: string): boolean {
  return seen.test(text) && !hiddenCharacter.test(text.replace(taggedFlags, ""));
}

/** The text on one line, without what is hidden. */
export function oneLineOf(text: string): string {
  return text.replace(flagOrHiddenOrBlank, (_, flag?: string) => flag ?? " ").trim();
}

/** Whether something of the text is seen. */
export function isSeen(text: string): boolean {
  return seen.test(oneLineOf(text));
}
