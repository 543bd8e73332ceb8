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
