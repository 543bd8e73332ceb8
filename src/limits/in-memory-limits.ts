import { clockSpreadMs, secondMs } from "../base/clock.ts";
import { RecentEntries } from "../base/recent-entries.ts";
import type { AmountCounter, Charge, Limit, Limits, SlidingCounter } from "./limits.ts";

/** Limits that one process counts by itself, in memory. */
export function createInMemoryLimits(): Limits {
  return {
    inWindows: (limit) => new InMemoryWindows(limit),
    sliding: (limit) => new InMemorySliding(limit),
    requests: undefined,
    // Memory is bounded by each limit's `rememberedMax`.
    removeExpired: async () => 0,
  };
}

export function secondsUntil(time: number, now: number): number {
  return Math.max(1, Math.ceil((time - now) / secondMs));
}

/** What is kept in memory for the keys of a limit. */
export function remembering<Entry>({ rememberedMax, windowMs }: Limit): RecentEntries<string, Entry> {
  return new RecentEntries({ max: rememberedMax, periodMs: windowMs });
}

interface Window {
  readonly startedAt: number;
  count: number;
}

class InMemoryWindows implements AmountCounter {
  readonly #limit: Limit;
  readonly #windows: RecentEntries<string, Window>;

  constructor(limit: Limit) {
    this.#limit = limit;
    this.#windows = remembering(limit);
  }

  async charge(key: string, now: number, amount = 1): Promise<Charge> {
    const { max, windowMs } = this.#limit;
    const window = this.#current(key, now) ?? this.#start(key, now);
    if (window.count + amount > max) {
      return { outcome: "refused", retryAfterSeconds: secondsUntil(window.startedAt + windowMs, now) };
    }
    window.count += amount;
    return {
      outcome: "charged",
      async refund() {
        window.count -= amount;
      },
    };
  }

  #current(key: string, now: number): Window | undefined {
    const known = this.#windows.get(key);
    if (known === undefined || known.startedAt > now + clockSpreadMs) return undefined;
    return now < known.startedAt + this.#limit.windowMs ? known : undefined;
  }

  #start(key: string, now: number): Window {
    const started = { startedAt: now, count: 0 };
    this.#windows.put(key, started, now);
    return started;
  }
}

class InMemorySliding implements SlidingCounter {
  readonly #limit: Limit;
  readonly #charged: RecentEntries<string, number[]>;

  constructor(limit: Limit) {
    this.#limit = limit;
    this.#charged = remembering(limit);
  }

  async charge(key: string, now: number): Promise<Charge> {
    const { max, windowMs } = this.#limit;
    const recent = this.#recent(key, now);
    if (recent.length >= max) {
      return { outcome: "refused", retryAfterSeconds: secondsUntil(Math.min(...recent) + windowMs, now) };
    }
    recent.push(now);
    // Only successful charges make it recent again.
    this.#charged.put(key, recent, now);
    return { outcome: "charged", refund: async () => this.#refund(key, now) };
  }

  async isUnused(key: string, now: number): Promise<boolean> {
    return this.#recent(key, now).length === 0;
  }

  #recent(key: string, now: number): number[] {
    const charged = this.#charged.get(key) ?? [];
    return charged.filter((at) => at > now - this.#limit.windowMs && at <= now + clockSpreadMs);
  }

  #refund(key: string, at: number): void {
    const charged = this.#charged.get(key);
    const index = charged?.indexOf(at) ?? -1;
    if (charged === undefined || index < 0) return;
    charged.splice(index, 1);
    if (charged.length === 0) this.#charged.delete(key);
  }
}
