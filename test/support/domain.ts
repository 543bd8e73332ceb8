import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandom } from "../../src/base/random.ts";
import type { Config } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { type Domain, type Effects, openDomain } from "../../src/domain.ts";
import type { Actor } from "../../src/pushes/pushes.ts";
import { createEvents } from "../../src/telemetry/events.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { settingsOfEngine } from "./engine.ts";
import { noFile } from "./settings.ts";

/** A clock that only the test moves. */
export class TestClock {
  #now: number;

  constructor(now = Date.UTC(2026, 0, 15, 12)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

export interface TestDomain extends AsyncDisposable {
  readonly domain: Domain;
  readonly clock: TestClock;
  readonly effects: Effects;
  readonly dataDir: string;
  readonly logLines: readonly string[];
}

/** A folder that is removed after the test. */
export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), "sealpush-test-"));
}

/** The configuration of `environment` for this data folder, without a minimum of free disk space. */
export function testConfig(dataDir: string, environment: Readonly<Record<string, string>> = {}): Config {
  const result = loadConfig(
    {
      DATA_DIR: dataDir,
      PWP__DISK__FREE_MIN_BYTES: "0",
      PWP__THROTTLING__MINUTE: "unlimited",
      PWP__THROTTLING__SECOND: "unlimited",
      ...environment,
    },
    noFile,
  );
  if (!result.ok) throw new Error(result.mistakes.join("\n"));
  return result.config;
}

export function testEffects(clock: TestClock): Effects {
  return {
    clock,
    correctClock: () => undefined,
    random: systemRandom,
    monotonicMs: () => clock.now(),
    pause: async () => undefined,
    abortAfter: (ms) => AbortSignal.timeout(ms),
  };
}

/** The real domain on a real database, with a clock that the test controls. */
export async function openTestDomain(
  options: { environment?: Readonly<Record<string, string>>; dataDir?: string; clock?: TestClock } = {},
): Promise<TestDomain> {
  const dataDir = options.dataDir ?? makeDataDir();
  const clock = options.clock ?? new TestClock();
  const effects = testEffects(clock);
  const logLines: string[] = [];
  const logger = createLogger("debug", { write: (line: string) => logLines.push(line) });
  const environment = { ...(await settingsOfEngine(dataDir, options.environment)), ...options.environment };
  const domain = await openDomain(testConfig(dataDir, environment), effects, createEvents({ logger, clock }));
  return {
    domain,
    clock,
    effects,
    dataDir,
    logLines,
    async [Symbol.asyncDispose]() {
      await domain.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export const stranger: Actor = {
  user: null,
  client: "192.0.2.1",
  address: "192.0.2.1",
  userAgent: "test",
  referrer: "",
  ownOrigin: "http://127.0.0.1:5100",
};

export function signedIn(id: number, admin = false): Actor {
  return { ...stranger, user: { id, admin } };
}

/** Claims without a server: the memory of the answer is not limited. */
export const countEveryone = { counting: "everyone", reserveAnswer: () => undefined } as const;
export const countStrangers = { ...countEveryone, counting: "strangers" } as const;
