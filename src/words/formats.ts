import { relativeTimes } from "../base/relative-time.ts";

/** How one language writes numbers, sizes and times. */
export interface Formats {
  number(value: number): string;
  /** Binary multiples under their everyday names: 1024 bytes are 1 kB. */
  bytes(count: number): string;
  /** Milliseconds since the epoch, written in UTC and saying so. */
  dateTime(timeMs: number): string;
  /** How far a time is from now: "3 hours ago", "in 2 days". Both in milliseconds since the epoch. */
  relativeTime(timeMs: number, nowMs: number): string;
}

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** @param tag BCP 47, with Unicode extensions where wanted (`ar-u-nu-latn`). */
export function formatsFor(tag: string): Formats {
  const numbers = new Intl.NumberFormat(tag);
  const times = new Intl.DateTimeFormat(tag, {
    year: "numeric",
    month: "long",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: "UTC",
    timeZoneName: "short",
  });
  const sizes = units.map(
    (unit) =>
      new Intl.NumberFormat(tag, {
        style: "unit",
        unit,
        unitDisplay: unit === "byte" ? "long" : "short",
        maximumFractionDigits: unit === "byte" ? 0 : 1,
      }),
  );
  return {
    number: (value) => numbers.format(value),
    bytes(count) {
      const step = count < 1024 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), units.length - 1);
      return sizes[step]?.format(count / 1024 ** step) ?? numbers.format(count);
    },
    dateTime: (timeMs) => times.format(timeMs),
    relativeTime: relativeTimes(tag),
  };
}
