import { minuteMs } from "../base/clock.ts";
import type { Charge, Limits } from "../limits/limits.ts";

const limit = { name: "passphrase", windowMs: minuteMs, max: 5, rememberedMax: 100_000 };

/**
 * Wrong passphrases per client and push: 5 within a minute. An attempt is charged before the passphrase is tried and
 * given back when it was right, so that guesses sent in parallel gain nothing. The key holds the client, so a stranger's
 * guesses never lock out the recipient. When too many pairs are tracked the oldest is forgotten: filling the table takes
 * more requests than it buys guesses.
 */
export interface Attempts {
  charge(client: string, pushId: number, now: number): Promise<Charge>;
}

export function createAttempts(limits: Limits): Attempts {
  const counter = limits.sliding(limit);
  return { charge: (client, pushId, now) => counter.charge(`${pushId} ${client}`, now) };
}
