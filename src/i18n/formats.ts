import { relativeTimes } from "../base/relative-time.ts";

/** @returns a function that calls `make` once, when it is first called, and returns that result every time. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

const durationSteps = [
  { unit: "millisecond", unitMs: 1 },
  { unit: "second", unitMs: 1_000 },
  { unit: "minute", unitMs: 60_000 },
  { unit: "hour", unitMs: 3_600_000 },
] as const;

const timeParts: Intl.DateTimeFormatOptions = {
  year: "numeric",
  month: "long",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZone: "UTC",
  timeZoneName: "short",
};

const shortTimeParts: Intl.DateTimeFormatOptions = { ...timeParts, year: undefined, month: "short" };

function sizeParts(unit: (typeof units)[number]): Intl.NumberFormatOptions {
  const isByte = unit === "byte";
  return { style: "unit", unit, unitDisplay: isByte ? "long" : "short", maximumFractionDigits: isByte ? 0 : 1 };
}

/** Joins a number and its unit, which some languages separate by a space where a line may end. */
function unbroken(quantity: string): string {
  return quantity.replaceAll(" ", "\u00a0");
}

export type Formats = ReturnType<typeof formatsFor>;

/** How one language writes numbers, sizes and times. @param tag BCP 47, with Unicode extensions where wanted (`ar-u-nu-latn`). */
export function formatsFor(tag: string) {
  const numbers = lazy(() => new Intl.NumberFormat(tag));
  const times = lazy(() => new Intl.DateTimeFormat(tag, timeParts));
  const shortTimes = lazy(() => new Intl.DateTimeFormat(tag, shortTimeParts));
  const sizes = units.map((unit) => lazy(() => new Intl.NumberFormat(tag, sizeParts(unit))));
  const durations = durationSteps.map(({ unit }) =>
    lazy(() => new Intl.NumberFormat(tag, { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 1 })),
  );
  const span = (unit: string) => lazy(() => new Intl.NumberFormat(tag, { style: "unit", unit, unitDisplay: "long" }));
  const spans = { minute: span("minute"), hour: span("hour"), day: span("day"), week: span("week") };
  const relative = lazy(() => relativeTimes(tag));
  return {
    number: (value: number) => numbers().format(value),
    /** Binary multiples under their everyday names: 1024 bytes are 1 kB. */
    bytes(count: number): string {
      const step = count < 1024 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), units.length - 1);
      return unbroken(sizes[step]?.().format(count / 1024 ** step) ?? numbers().format(count));
    },
    /** In the largest unit of which it is at least one: "30 seconds", "1.5 hours". */
    duration(ms: number): string {
      const step = Math.max(
        0,
        durationSteps.findLastIndex(({ unitMs }) => ms >= unitMs),
      );
      return unbroken(durations[step]?.().format(ms / (durationSteps[step]?.unitMs ?? 1)) ?? numbers().format(ms));
    },
    /** A chosen time in whole units: "45 minutes", "6 hours", "3 days", "2 weeks", "30 days". */
    timeSpan(minutes: number): string {
      const days = minutes / (24 * 60);
      if (minutes < 60) return spans.minute().format(minutes);
      if (days < 1) return spans.hour().format(minutes / 60);
      return days % 7 === 0 && days < 30 ? spans.week().format(days / 7) : spans.day().format(days);
    },
    /** Milliseconds since the epoch, in UTC with the name of the time zone. */
    dateTime: (timeMs: number) => times().format(timeMs),
    /** As `dateTime`, without the year. */
    shortTime: (timeMs: number) => shortTimes().format(timeMs),
    /** The distance of a time from now: "3 hours ago", "in 2 days". Both in milliseconds since the epoch. */
    relativeTime: (timeMs: number, nowMs: number) => relative()(timeMs, nowMs),
  };
}
