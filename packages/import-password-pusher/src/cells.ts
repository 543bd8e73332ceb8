import type { Cell } from "./store/source-rows.ts";

/** NULL stays null. */
export function textOf(cell: Cell | undefined): string | null {
  return cell === undefined || cell === null ? null : String(cell);
}

/** undefined: NULL, or not a whole number that JavaScript holds exactly. */
export function wholeNumberOf(cell: Cell | undefined): number | undefined {
  if (cell === undefined || cell === null || !/^-?\d{1,16}$/.test(String(cell))) return undefined;
  const value = Number(cell);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Reads the words of the three engines. NULL is false. undefined: neither true nor false. */
export function booleanOf(cell: Cell | undefined): boolean | undefined {
  const word = String(cell ?? "").toLowerCase();
  if (["1", "t", "true"].includes(word)) return true;
  return ["", "0", "f", "false"].includes(word) ? false : undefined;
}

const timeShape = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z| UTC|\+00(?::?00)?)?$/;

/** Milliseconds since the epoch, rounded down. All times of the source are UTC. undefined: NULL, or not a time. */
export function timeOf(cell: Cell | undefined): number | undefined {
  const [, year, month, day, hour, minute, second, fraction = ""] = timeShape.exec(String(cell ?? "")) ?? [];
  if (year === undefined || Number(month) === 0 || Number(day) === 0) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const time = Date.UTC(
    ...([Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const),
    milliseconds,
  );
  // Date.UTC accepts a thirteenth month.
  return new Date(time).toISOString().startsWith(`${year}-${month}-${day}T${hour}:${minute}:${second}`)
    ? time
    : undefined;
}

/** The time as text in one format for all engines, with the precision of the source. */
export function exactTimeOf(cell: Cell | undefined): string | undefined {
  const [, year, month, day, hour, minute, second, fraction = ""] = timeShape.exec(String(cell ?? "")) ?? [];
  if (year === undefined) return undefined;
  return `${year}-${month}-${day} ${hour}:${minute}:${second}.${fraction.padEnd(6, "0")}`;
}

/** Less than any id: ids begin with 1, but a damaged row may have a negative one. */
export const beforeFirstId = -(2 ** 31);
