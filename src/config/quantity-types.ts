import { dayMs, hourMs, minuteMs, secondMs } from "../base/clock.ts";
import { accepted, refused, type ValueType } from "./value-type.ts";

const prefixes = "kmgt";

const durationUnitMs: Readonly<Record<string, number>> = {
  second: secondMs,
  minute: minuteMs,
  hour: hourMs,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
  year: 365 * dayMs,
};

/**
 * Bytes, as a plain number or with a unit: kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024
 * (IEC 80000-13). The emails may be of either case. Both bounds are included.
 */
export function byteSize(bounds: { min: number; max: number; allowed: string }): ValueType<number> {
  return {
    allowed: `a number of bytes or a size such as 512MB or 1GiB, ${bounds.allowed}`,
    parse(text) {
      const match = /^(\d{1,15})\s*(?:([kmgt])(i?)b|b)?$/i.exec(text);
      if (match === null) return refused;
      const [, count = "", prefix, binary] = match;
      const exponent = prefix === undefined ? 0 : prefixes.indexOf(prefix.toLowerCase()) + 1;
      const value = Number(count) * (binary ? 1024 : 1000) ** exponent;
      return value < bounds.min || value > bounds.max ? refused : accepted(value);
    },
  };
}

/**
 * Milliseconds, from a count and a unit: "3 months", "2 hours". A month is 30 days, a year 365. `plainNumber`: whether a
 * number without a unit is taken, as seconds. Both bounds are included.
 */
export function duration(bounds: {
  minMs: number;
  maxMs: number;
  plainNumber: "seconds" | "refused";
  allowed: string;
}): ValueType<number> {
  return {
    allowed: bounds.allowed,
    parse(text) {
      const match = /^(\d{1,9})(?:[ .]?([a-z]+?)s?)?$/i.exec(text);
      if (match === null) return refused;
      const [, count = "", unit] = match;
      if (unit === undefined && bounds.plainNumber === "refused") return refused;
      const name = unit?.toLowerCase() ?? "second";
      const unitMs = Object.hasOwn(durationUnitMs, name) ? durationUnitMs[name] : undefined;
      if (unitMs === undefined) return refused;
      const value = Number(count) * unitMs;
      return value < bounds.minMs || value > bounds.maxMs ? refused : accepted(value);
    },
  };
}
