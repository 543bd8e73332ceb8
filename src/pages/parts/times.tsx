import { useMessages } from "../page.ts";

/** A time in UTC with the name of the time zone; a script rewrites it in the reader's own zone. */
export function LocalTime({ timeMs }: { readonly timeMs: number }) {
  const { formats } = useMessages();
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-local-time>
      {formats.dateTime(timeMs)}
    </time>
  );
}

/** As `LocalTime`, short enough for a line of facts: without the year, and in the reader's own zone without its name. */
export function ShortTime({ timeMs }: { readonly timeMs: number }) {
  const { formats } = useMessages();
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-local-time="short">
      {formats.shortTime(timeMs)}
    </time>
  );
}

export interface RelativeTimeProps {
  readonly timeMs: number;
  readonly nowMs: number;
}

/** "3 hours ago", as of the time the page was rendered; a script keeps it current. */
export function RelativeTime({ timeMs, nowMs }: RelativeTimeProps) {
  const { formats } = useMessages();
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-relative-time={nowMs}>
      {formats.relativeTime(timeMs, nowMs)}
    </time>
  );
}

/** The distance from now, within an element with `data-now`; a script adds the exact time as the tooltip. */
export function RowTime({ timeMs, nowMs }: RelativeTimeProps) {
  const { formats } = useMessages();
  const seconds = new Date(timeMs).toISOString().slice(0, 19);
  return <time dateTime={`${seconds}Z`}>{formats.relativeTime(timeMs, nowMs)}</time>;
}

/** The relative and the exact time. */
export function BothTimes({ timeMs, nowMs }: RelativeTimeProps) {
  return (
    <span class="both-times">
      <RelativeTime timeMs={timeMs} nowMs={nowMs} />
      <span class="exact-time">
        <LocalTime timeMs={timeMs} />
      </span>
    </span>
  );
}
