import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../src/base/clock.ts";
import { systemRandom } from "../src/base/random.ts";
import { loadConfig } from "../src/config/load-config.ts";
import { type Domain, openDomain } from "../src/domain.ts";
import type { Actor } from "../src/pushes/pushes.ts";
import { createEvents } from "../src/telemetry/events.ts";
import { createLogger } from "../src/telemetry/logger.ts";
import { noFile } from "../test/support/settings.ts";

/** The system clock, which can be moved forward. */
export class ShiftedClock implements Clock {
  #shiftMs = 0;

  now(): number {
    return Date.now() + this.#shiftMs;
  }

  shift(ms: number): void {
    this.#shiftMs += ms;
  }
}

/** The domain on a durable database, without HTTP. */
export async function openBenchDomain(
  dataDir: string,
  clock: Clock,
  more: Readonly<Record<string, string>> = {},
): Promise<Domain> {
  const settings = loadConfig({ ...more, DATA_DIR: dataDir }, noFile);
  if (!settings.ok) throw new Error(settings.mistakes.join("\n"));
  const logger = createLogger("error", process.stderr);
  const effects = {
    clock,
    correctClock: () => undefined,
    random: systemRandom,
    monotonicMs: () => performance.now(),
    pause: (ms: number) => sleep(ms),
    abortAfter: (ms: number) => AbortSignal.timeout(ms),
  };
  return await openDomain(settings.config, effects, createEvents({ logger, clock }));
}

export const claimRequest = { counting: "everyone", reserveAnswer: () => undefined } as const;

export const stranger: Actor = {
  user: null,
  client: "127.0.0.1",
  address: "127.0.0.1",
  userAgent: "bench",
  referrer: "",
  ownOrigin: "http://127.0.0.1:5100",
};

/** Runs `step` `times` times, at most `width` concurrently, with its index as argument. */
export async function inParallel(times: number, width: number, step: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < times) {
      const at = next;
      next += 1;
      await step(at);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}
