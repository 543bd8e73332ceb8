import { createContext, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";

/** Texts up to this length are escaped at once, in some milliseconds. */
const charactersAtOnce = 128 * 1024;
const sliceCharacters = 16 * 1024;

/** The long texts of the page that is being rendered; undefined: it is sent as one text. */
const LongTexts = createContext<string[] | undefined>(undefined);

/** Only markup of ours can contain it: the `<` of every text is escaped. */
const placeholder = /<template data-long-text="(\d+)"><\/template>/;

/** A text that may be long: `renderInPieces` escapes it in slices. */
export function LongText({ text }: { readonly text: string }) {
  return (
    <LongTexts.Consumer>
      {(longTexts) => {
        if (longTexts === undefined || text.length <= charactersAtOnce) return text;
        return <template data-long-text={longTexts.push(text) - 1} />;
      }}
    </LongTexts.Consumer>
  );
}

/**
 * Renders a document, from its doctype on. Its long texts are escaped slice by slice while it is sent: escaping a payload at
 * once would stop the event loop for too long.
 * @returns one string if the document has no long texts.
 */
export function renderInPieces(page: VNode) {
  const longTexts: string[] = [];
  const html = `<!doctype html>${renderToString(<LongTexts.Provider value={longTexts}>{page}</LongTexts.Provider>)}`;
  if (longTexts.length === 0) return html;
  const heldBytes = longTexts.reduce((bytes, text) => bytes + 2 * text.length, html.length);
  return { pieces: withLongTexts(html, longTexts), heldBytes };
}

function* withLongTexts(html: string, longTexts: readonly string[]): Generator<string, void> {
  // A captured number follows each part that precedes a placeholder.
  for (const [index, part] of html.split(placeholder).entries()) {
    if (index % 2 === 0) yield part;
    else yield* escapedSlices(longTexts[Number(part)] ?? "");
  }
}

function* escapedSlices(text: string): Generator<string, void> {
  let end = 0;
  for (let start = 0; start < text.length; start = end) {
    end = start + sliceCharacters;
    // A surrogate pair must not be divided: each slice is encoded by itself.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield escaped(text.slice(start, end));
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** The same characters as the renderer escapes in texts and attributes. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
