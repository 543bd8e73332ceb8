import type { Words } from "../../words/words.ts";

/** A time in UTC that says so; a script rewrites it in the reader's own zone. */
export function LocalTime({ timeMs, words }: { readonly timeMs: number; readonly words: Words }) {
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-local-time>
      {words.formats.dateTime(timeMs)}
    </time>
  );
}
