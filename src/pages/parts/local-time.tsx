import type { Messages } from "../../i18n/i18n.ts";

/** A time in UTC that says so; a script rewrites it in the reader's own zone. */
export function LocalTime({ timeMs, messages }: { readonly timeMs: number; readonly messages: Messages }) {
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-local-time>
      {messages.formats.dateTime(timeMs)}
    </time>
  );
}
