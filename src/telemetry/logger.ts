import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import { type Clock, secondMs } from "../base/clock.ts";
import type { Config } from "../config/config.ts";

export type { DestinationStream, Logger } from "pino";

/** One JSON object per line: `level` by name, `time` in ISO 8601 UTC, `event`, and the fields of `events.ts`. */
export function createLogger(level: Config["logLevel"], destination: DestinationStream): Logger {
  return pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (name) => ({ level: name }) } },
    destination,
  );
}

/**
 * Limits a log line that a state could cause thousands of times a second to one per second, so that it cannot fill the disk.
 * @param log receives the number of lines that were suppressed since the last one.
 */
export function rateLimitedLog<T extends unknown[]>(
  clock: Clock,
  log: (suppressedCount: number, ...about: T) => void,
): (...about: T) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let suppressedCount = 0;
  return (...about) => {
    const now = clock.now();
    if (Math.abs(now - loggedAt) < secondMs) {
      suppressedCount += 1;
      return;
    }
    loggedAt = now;
    log(suppressedCount, ...about);
    suppressedCount = 0;
  };
}
