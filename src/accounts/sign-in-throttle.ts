import { hourMs, minuteMs } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { createAttemptWindows } from "./attempt-windows.ts";

export interface SignInLimits {
  readonly windowMs: number;
  /** Failed attempts of one client on one e-mail in a window. */
  readonly perPairMax: number;
  /** Failed attempts of one client, whatever the e-mail. */
  readonly perClientMax: number;
  readonly accountWindowMs: number;
  /** Failed attempts on one e-mail in an account window, of all clients that are new to it together. */
  readonly perAccountMax: number;
  /** Clients, pairs and e-mails remembered, each. */
  readonly rememberedMax: number;
}

export const signInLimits: SignInLimits = {
  windowMs: 10 * minuteMs,
  perPairMax: 10,
  perClientMax: 50,
  accountWindowMs: hourMs,
  perAccountMax: 1_000,
  rememberedMax: 20_000,
};

export interface SignInAttempt {
  readonly client: string;
  /** "" for all that is no address: what is typed there must not become keys without end. */
  readonly email: string;
  /** The account has been used from this place before. */
  readonly knownPlace: boolean;
}

export interface SignInThrottle {
  /**
   * Counts the attempt before it is made, so that parallel guesses gain nothing. What counts for everybody belongs to
   * one client: a stranger's guesses slow the stranger alone. Beside it stands a wide bound for one account, against
   * guesses from thousands of addresses at once. A place that the account was used from passes it by and never fills it,
   * so such guesses cannot keep its owner out; at a new place the owner can come in by a reset of the password, which
   * makes the place a known one.
   * @throws AppError too_many_requests; the refused attempt is not counted.
   */
  charge(attempt: SignInAttempt, now: number): { refund(): void };
}

export function createSignInThrottle(limits: SignInLimits): SignInThrottle {
  const { windowMs, rememberedMax } = limits;
  const clients = createAttemptWindows({ windowMs, max: limits.perClientMax, rememberedMax });
  const pairs = createAttemptWindows({ windowMs, max: limits.perPairMax, rememberedMax });
  const accounts = createAttemptWindows({
    ...{ windowMs: limits.accountWindowMs, max: limits.perAccountMax, rememberedMax },
  });

  return {
    charge({ client, email, knownPlace }, now) {
      const counted = [
        [clients, client],
        [pairs, `${client} ${email}`],
        ...(knownPlace ? [] : ([[accounts, email]] as const)),
      ] as const;
      for (const [windows, key] of counted) {
        const retryAfterSeconds = windows.waitSeconds(key, now);
        if (retryAfterSeconds > 0) {
          throw new AppError("too_many_requests", "Too many attempts. Try again later.", { retryAfterSeconds });
        }
      }
      const refunds = counted.map(([windows, key]) => windows.charge(key, now));
      return {
        refund() {
          for (const refund of refunds) refund();
        },
      };
    },
  };
}
