import type { Messages } from "../../i18n/i18n.ts";

export interface RelativeTimeProps {
  readonly timeMs: number;
  readonly nowMs: number;
  readonly messages: Messages;
}

/** "3 hours ago": as it was when the page was made; a script keeps it true. */
export function RelativeTime({ timeMs, nowMs, messages }: RelativeTimeProps) {
  return (
    <time dateTime={new Date(timeMs).toISOString()} data-relative-time={nowMs}>
      {messages.formats.relativeTime(timeMs, nowMs)}
    </time>
  );
}
