import type { Cell } from "./store/source-rows.ts";

/** NULL stays null. */
export function textOf(cell: Cell | undefined): string | null {
  return cell === undefined || cell === null ? null : String(cell);
}

/** undefined: NULL, or no whole number that is exact here. */
export function wholeNumberOf(cell: Cell | undefined): number | undefined {
  if (cell === undefined || cell === null || !/^-?\d{1,16}$/.test(String(cell))) return undefined;
  const value = Number(cell);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** In the messages of the three engines. NULL is false. undefined: it is neither. */
export function truthOf(cell: Cell | undefined): boolean | undefined {
  const word = String(cell ?? "").toLowerCase();
  if (["1", "t", "true"].includes(word)) return true;
  return ["", "0", "f", "false"].includes(word) ? false : undefined;
}

const timeShape = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z| UTC|\+00(?::?00)?)?$/;

/** Milliseconds since the epoch, rounded down; all times of the source are UTC. undefined: NULL, or no time. */
export function timeOf(cell: Cell | undefined): number | undefined {
  const [, year, month, day, hour, minute, second, fraction = ""] = timeShape.exec(String(cell ?? "")) ?? [];
  if (year === undefined || Number(month) === 0 || Number(day) === 0) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const time = Date.UTC(
    ...([Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const),
    milliseconds,
  );
  // A thirteenth month would become the next year's first.
  return new Date(time).toISOString().startsWith(`${year}-${month}-${day}T${hour}:${minute}:${second}`)
    ? time
    : undefined;
}

/** The same time in the same messages, whichever engine it comes from; as exact as it is there. */
export function exactTimeOf(cell: Cell | undefined): string | undefined {
  const [, year, month, day, hour, minute, second, fraction = ""] = timeShape.exec(String(cell ?? "")) ?? [];
  if (year === undefined) return undefined;
  return `${year}-${month}-${day} ${hour}:${minute}:${second}.${fraction.padEnd(6, "0")}`;
}
