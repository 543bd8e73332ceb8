import { LocalTime } from "./local-time.tsx";
import { RelativeTime, type RelativeTimeProps } from "./relative-time.tsx";

/** How far away, and when exactly. */
export function BothTimes({ timeMs, nowMs, words }: RelativeTimeProps) {
  return (
    <span class="both-times">
      <RelativeTime timeMs={timeMs} nowMs={nowMs} words={words} />
      <span class="exact-time">
        <LocalTime timeMs={timeMs} words={words} />
      </span>
    </span>
  );
}
