import { minuteMs } from "../base/clock.ts";
import type { Charge, Limits, Refused } from "./limits.ts";
import { createNetworkCounter } from "./network-counter.ts";

const perClient = { name: "password hashes", windowMs: minuteMs, max: 20, rememberedMax: 200_000 };
/** As many again are kept for secrets at which nobody at this address has failed: an office has one address. */
const kept = { ...perClient, name: "password hashes kept" };
const waitingPerClientMax = 64;
const waitingMax = 1_000;

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

interface Attempt<T> {
  /** A client's key. */
  readonly client: string;
  readonly now: number;
  /** Calculates the hash. */
  readonly make: () => Promise<T>;
  /** Whether the result proves that the client knows a secret. */
  readonly isRight: (result: T) => boolean;
  /** Whether the client has not failed at this secret in the last minute; by default it may have. */
  readonly isFresh?: () => Promise<boolean>;
}

export type HashAttempts = ReturnType<typeof createHashAttempts>;

/**
 * Limits the work that one client causes with password hashes that prove nothing, such as those of wrong passwords and
 * passphrases. All routes share the limit. An attempt is charged before it is made and refunded when it was right.
 */
export function createHashAttempts(limits: Limits) {
  const makeCounter = (limit: typeof perClient) =>
    createNetworkCounter((shares) => limits.sliding({ ...limit, max: Math.floor(limit.max * shares) }));
  const counter = makeCounter(perClient);
  const keptCounter = makeCounter(kept);
  const lanes = new Map<string, Lane>();
  let waiting = 0;

  /** Attempts that this process is making may be refunded: many people who share an address wait for them, not for a minute. */
  async function charge({ client, now, isFresh }: Pick<Attempt<never>, "client" | "now" | "isFresh">): Promise<Charge> {
    for (;;) {
      let charged = await counter.charge(client, now);
      if (charged.outcome === "refused" && (await isFresh?.())) charged = await keptCounter.charge(client, now);
      const lane = lanes.get(client);
      if (charged.outcome === "charged") {
        if (lane === undefined) lanes.set(client, { running: 1, waiting: [] });
        else lane.running += 1;
        return charged;
      }
      if (lane === undefined || lane.waiting.length >= waitingPerClientMax || waiting >= waitingMax) return charged;
      waiting += 1;
      await new Promise<void>((wake) => lane.waiting.push(wake));
      waiting -= 1;
    }
  }

  function leave(client: string, refunded: boolean): void {
    const lane = lanes.get(client);
    if (lane === undefined) throw new Error("An attempt ended that had not begun.");
    lane.running -= 1;
    if (lane.running === 0) {
      lanes.delete(client);
      for (const wake of lane.waiting) wake();
    } else if (refunded) lane.waiting.shift()?.();
  }

  return {
    /** @returns a refusal: the attempt was not made. @throws what `make` throws; the attempt is then not counted. */
    async run<T>(attempt: Attempt<T>): Promise<{ readonly outcome: "made"; readonly result: T } | Refused> {
      const charged = await charge(attempt);
      if (charged.outcome === "refused") return charged;
      let isCounted = false;
      try {
        const result = await attempt.make();
        isCounted = !attempt.isRight(result);
        return { outcome: "made", result };
      } finally {
        try {
          if (!isCounted) await charged.refund();
        } finally {
          leave(attempt.client, !isCounted);
        }
      }
    },
  };
}
