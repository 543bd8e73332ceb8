import { AppError } from "../base/errors.ts";
import type { RequestCounts } from "./request-counts.ts";

/** The maximum number of attempts per key in a period. */
export interface Limit {
  /** Separates its keys from those of other limits. */
  readonly name: string;
  readonly windowMs: number;
  readonly max: number;
  /** Keys that one process keeps in memory at most. Half as many are always kept: those that were charged last. */
  readonly rememberedMax: number;
  /**
   * For windows of many small amounts: the amount that a process reserves in the shared count at once and then counts
   * locally, so that not every charge waits for the row of its key. Other processes cannot use what is reserved. 0 by
   * default.
   */
  readonly reservedAtOnce?: number;
}

export type Charge =
  /** `refund` takes the charge back; call it at most once. */
  { readonly outcome: "charged"; refund(): Promise<void> } | Refused;

export interface Refused {
  readonly outcome: "refused";
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/**
 * An attempt is charged before it is made and refunded when it was correct, so that sending attempts in parallel, to any
 * number of processes, gains nothing. A refused attempt is not counted. A window that starts more than `clockSpreadMs` in the
 * future is ignored, so that nobody is locked out until then.
 */
export interface Counter {
  charge(key: string, now: number): Promise<Charge>;
}

export interface SlidingCounter extends Counter {
  /** Whether no attempt is counted. */
  isUnused(key: string, now: number): Promise<boolean>;
}

/** Counts amounts, such as bytes. */
export interface AmountCounter {
  /** @param amount without it 1. What exceeds the rest of the window is refused as a whole. */
  charge(key: string, now: number, amount?: number): Promise<Charge>;
}

/** Counts attempts in this process, or over all processes that share a database. */
export interface Limits {
  /** Fixed windows: each begins with a key's first attempt after the previous window. */
  inWindows(limit: Limit): AmountCounter;
  /** A sliding window: counts the attempts of the last `windowMs`. */
  sliding(limit: Limit): SlidingCounter;
  /** Requests that other processes have admitted; undefined: there are no other processes. */
  readonly requests: RequestCounts | undefined;
  /** Removes expired counters. @returns the number of rows, at most `rowsMax` of each kind. */
  removeExpired(now: number, rowsMax: number): Promise<number>;
}

/** Makes the charges one after the other. If one is refused, those before it are taken back and the others are not made. */
export async function chargeAll(charges: readonly (() => Promise<Charge>)[]): Promise<Charge> {
  const [first] = charges;
  if (first !== undefined && charges.length === 1) return await first();
  const refunds: (() => Promise<void>)[] = [];
  const refund = async () => {
    await Promise.all(refunds.map((one) => one()));
  };
  for (const charge of charges) {
    const made = await charge();
    if (made.outcome === "refused") {
      await refund();
      return made;
    }
    refunds.push(made.refund);
  }
  return { outcome: "charged", refund };
}

export function tooManyAttempts({ retryAfterSeconds }: Refused): AppError {
  return new AppError("too_many_requests", "Too many attempts. Try again later.", { retryAfterSeconds });
}
