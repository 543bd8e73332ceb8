import { LocalTime } from "./local-time.tsx";
import { RelativeTime, type RelativeTimeProps } from "./relative-time.tsx";

/** How far away, and when exactly. */
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
