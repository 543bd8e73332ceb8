import { minuteMs } from "../base/clock.ts";

const attemptsMax = 5;
const windowMs = minuteMs;
const trackedMax = 100_000;

export type Charge =
  | { readonly outcome: "charged"; refund(): void }
  | { readonly outcome: "refused"; readonly retryAfterSeconds: number };

/**
 * Wrong passphrases per client and push: 5 within a minute. An attempt is charged before the passphrase is tried and
 * given back when it was right, so that guesses sent in parallel gain nothing. The key holds the client, so a stranger's
 * guesses never lock out the recipient. When too many pairs are tracked the oldest is forgotten: filling the table takes
 * more requests than it buys guesses.
 */
export class Attempts {
  readonly #charged = new Map<string, number[]>();

  charge(client: string, pushId: number, now: number): Charge {
    const key = `${pushId} ${client}`;
    const recent = (this.#charged.get(key) ?? []).filter((at) => at > now - windowMs && at <= now);
    const oldest = recent[0];
    if (recent.length >= attemptsMax && oldest !== undefined) {
      return { outcome: "refused", retryAfterSeconds: Math.max(1, Math.ceil((oldest + windowMs - now) / 1_000)) };
    }
    recent.push(now);
    this.#charged.delete(key);
    this.#charged.set(key, recent);
    this.#forgetOldest();
    return { outcome: "charged", refund: () => this.#refund(key, now) };
  }

  #refund(key: string, at: number): void {
    const charged = this.#charged.get(key);
    const index = charged?.indexOf(at) ?? -1;
    if (charged === undefined || index < 0) return;
    charged.splice(index, 1);
    if (charged.length === 0) this.#charged.delete(key);
  }

  #forgetOldest(): void {
    if (this.#charged.size <= trackedMax) return;
    const oldest = this.#charged.keys().next();
    if (!oldest.done) this.#charged.delete(oldest.value);
  }
}
