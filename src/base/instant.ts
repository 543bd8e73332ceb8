import { dayMs } from "./clock.ts";

/** RFC 3339 with a capital T, and Z or an offset; seconds and milliseconds may be left out. */
const shape = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?:(:\d\d)(\.\d{3})?)?(Z|[+-]\d\d:\d\d)$/;

/** @returns milliseconds since the epoch; undefined: the text has another form, or names a day or time that does not exist. */
export function readInstant(text: string): number | undefined {
  const [, day = "", minutes = "", seconds = ":00", fraction = "", offset = ""] = shape.exec(text) ?? [];
  const wallClock = `${day}T${minutes}${seconds}${fraction}`;
  // Date takes February 30 as March 1, and 24:00 as the next day.
  const asUtc = new Date(`${wallClock}Z`);
  if (Number.isNaN(asUtc.getTime()) || asUtc.toISOString().slice(0, 19) !== `${day}T${minutes}${seconds}`) {
    return undefined;
  }
  const at = Date.parse(`${wallClock}${offset}`);
  return Number.isNaN(at) ? undefined : at;
}

/** As the date and time control of a browser sends it: without an offset; seconds may be left out. */
const wallClockShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{3})?)?$/;

/**
 * A time that the zone has twice is the earlier one; a time that it skips has the offset after the change.
 * @param zone a name such as `Europe/Berlin`, or an offset. @returns milliseconds since the epoch; undefined: the zone is
 * unknown, or the text is no such time.
 */
export function readWallClock(text: string, zone: string): number | undefined {
  const wallMs = wallClockShape.test(text) ? readInstant(`${text}Z`) : undefined;
  if (wallMs === undefined || !isTimeZone(zone)) return undefined;
  // Offsets change by less than a day, and not twice within two days.
  const candidates = [wallMs - dayMs, wallMs + dayMs].map((near) => wallMs - offsetMs(zone, near));
  const exact = candidates.filter((at) => at + offsetMs(zone, at) === wallMs);
  return Math.min(...(exact.length > 0 ? exact : candidates));
}

export function isTimeZone(zone: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function offsetMs(zone: string, at: number): number {
  const parts = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(at);
  const offset = parts.find(({ type }) => type === "timeZoneName")?.value.slice("GMT".length) || "+00:00";
  return at - (readInstant(`${new Date(at).toISOString().slice(0, 23)}${offset}`) ?? at);
}
