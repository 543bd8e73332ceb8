import { untranslated } from "../page.ts";
import { LongText } from "./long-text.tsx";

// What an HTML parser changes: NUL is replaced, a carriage return becomes a line feed.
const changedByParser = /[\0\r]/;

/**
 * A secret exactly as it was sent, with every blank and line end. Where an HTML parser would change a character, an
 * attribute has the exact bytes in base64, for the scripts that copy and save the text.
 */
export function ExactText({ id, text }: { readonly id: string; readonly text: string }) {
  const exact = changedByParser.test(text) ? Buffer.from(text, "utf8").toString("base64") : undefined;
  return (
    <pre id={id} class="exact-text" dir="auto" translate={untranslated} data-exact-base64={exact}>
      <LongText text={keepFirstLineEnd(text)} />
    </pre>
  );
}

/** An HTML parser drops the first line end after `<pre>` and `<textarea>`: this adds one for the parser to drop. */
export function keepFirstLineEnd(text: string): string {
  return text.startsWith("\n") || text.startsWith("\r") ? `\n${text}` : text;
}
