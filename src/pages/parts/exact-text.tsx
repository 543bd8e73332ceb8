// What an HTML parser changes: NUL is replaced, a carriage return becomes a line feed.
const changedByParser = /[\0\r]/;

/**
 * A secret as it was sent, every blank and line end of it. Where a parser would change a character, the exact bytes
 * travel beside the text in base64, for the scripts that copy and save it.
 */
export function ExactText({ id, text }: { readonly id: string; readonly text: string }) {
  const exact = changedByParser.test(text) ? Buffer.from(text, "utf8").toString("base64") : undefined;
  return (
    <pre id={id} class="exact-text" dir="auto" translate={false} data-exact-base64={exact}>
      {keepFirstLineEnd(text)}
    </pre>
  );
}

/** A parser drops the first line end after `<pre>` and `<textarea>`: one more keeps a text that begins with one whole. */
export function keepFirstLineEnd(text: string): string {
  return text.startsWith("\n") || text.startsWith("\r") ? `\n${text}` : text;
}
