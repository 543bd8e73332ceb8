import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import type { Config } from "../config/config.ts";

export type { DestinationStream, Logger } from "pino";

/**
 * One JSON object a line: `level` by name, `time` in ISO 8601 UTC, `event`, and what `events.ts` adds. Nothing else writes.
 * @param worker stands in each line: several processes may share a destination.
 */
export function createLogger(level: Config["logLevel"], destination: DestinationStream, worker?: number): Logger {
  const base = worker === undefined ? null : { worker };
  return pino(
    { level, base, timestamp: stdTimeFunctions.isoTime, formatters: { level: (name) => ({ level: name }) } },
    destination,
  );
}
