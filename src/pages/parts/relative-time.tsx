import type { Words } from "../../words/words.ts";

export interface RelativeTimeProps {
  readonly timeMs: number;
  readonly nowMs: number;
  readonly words: Words;
}

/** "3 hours ago": as it was when the page was made; a script keeps it true. */
export function RelativeTime({ timeMs, nowMs, words }: RelativeTimeProps) {
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-relative-time={nowMs}>
      {words.formats.relativeTime(timeMs, nowMs)}
    </time>
  );
}
