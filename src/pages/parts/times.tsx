import type { Messages } from "../../i18n/i18n.ts";

/** A time in UTC with the name of the time zone; a script rewrites it in the reader's own zone. */
export function LocalTime({ timeMs, messages }: { readonly timeMs: number; readonly messages: Messages }) {
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-local-time>
      {messages.formats.dateTime(timeMs)}
    </time>
  );
}

/** As `LocalTime`, short enough for a line of facts: without the year, and in the reader's own zone without its name. */
export function ShortTime({ timeMs, messages }: { readonly timeMs: number; readonly messages: Messages }) {
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-local-time="short">
      {messages.formats.shortTime(timeMs)}
    </time>
  );
}

export interface RelativeTimeProps {
  readonly timeMs: number;
  readonly nowMs: number;
  readonly messages: Messages;
}

/** "3 hours ago", as of the time the page was rendered; a script keeps it current. */
export function RelativeTime({ timeMs, nowMs, messages }: RelativeTimeProps) {
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-relative-time={nowMs}>
      {messages.formats.relativeTime(timeMs, nowMs)}
    </time>
  );
}

/** The distance from now, within an element with `data-now`; a script adds the exact time as the tooltip. */
export function RowTime({ timeMs, nowMs, messages: { formats } }: RelativeTimeProps) {
  const seconds = new Date(timeMs).toISOString().slice(0, 19);
  return <time dateTime={`${seconds}Z`}>{formats.relativeTime(timeMs, nowMs)}</time>;
}

/** The relative and the exact time. */
export function BothTimes({ timeMs, nowMs, messages }: RelativeTimeProps) {
  return (
    <span class="both-times">
      <RelativeTime timeMs={timeMs} nowMs={nowMs} messages={messages} />
      <span class="exact-time">
        <LocalTime timeMs={timeMs} messages={messages} />
      </span>
    </span>
  );
}
