/** Each unit with its length in milliseconds, and the number from which the next unit is used. */
const units = [
  ["minute", 60_000, 60],
  ["hour", 3_600_000, 48],
  ["day", 86_400_000, 60],
  ["month", 2_629_746_000, 24],
  ["year", 31_556_952_000, Number.POSITIVE_INFINITY],
] as const;

/** "3 hours ago", "in 2 days", "now". @param tag BCP 47, with Unicode extensions where wanted. */
export function relativeTimes(tag: string): (timeMs: number, nowMs: number) => string {
  // "Tomorrow" and the like depend on the calendar, not on the difference, so only "now" is used.
  const numbers = new Intl.RelativeTimeFormat(tag, { numeric: "always" });
  const words = new Intl.RelativeTimeFormat(tag, { numeric: "auto" });
  return (timeMs, nowMs) => {
    for (const [unit, lengthMs, next] of units) {
      const count = Math.round((timeMs - nowMs) / lengthMs);
      if (count === 0) return words.format(0, "second");
      if (Math.abs(count) < next) return numbers.format(count, unit);
    }
    return "";
  };
}
