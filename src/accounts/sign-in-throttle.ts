import { hourMs, minuteMs } from "../base/clock.ts";
import { type Charge, type Counter, type Limits, tooManyAttempts } from "../limits/limits.ts";

export interface SignInLimits {
  readonly windowMs: number;
  /** Failed attempts of one client on one e-mail in a window. */
  readonly perPairMax: number;
  /** Failed attempts of one client, whatever the e-mail. */
  readonly perClientMax: number;
  readonly accountWindowMs: number;
  /** Failed attempts on one e-mail in an account window, of all clients that are new to it together. */
  readonly perAccountMax: number;
  /** Clients, pairs and e-mails remembered by one process, each. */
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
  readonly isKnownClient: boolean;
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
  charge(attempt: SignInAttempt, now: number): Promise<{ refund(): Promise<void> }>;
}

export function createSignInThrottle(sizes: SignInLimits, limits: Limits): SignInThrottle {
  const { windowMs, rememberedMax } = sizes;
  const make = (name: string, max: number, length = windowMs): Counter =>
    limits.inWindows({ name, max, windowMs: length, rememberedMax });
  const clients = make("sign-in client", sizes.perClientMax);
  const pairs = make("sign-in client and e-mail", sizes.perPairMax);
  const accounts = make("sign-in e-mail", sizes.perAccountMax, sizes.accountWindowMs);

  return {
    async charge({ client, email, isKnownClient }, now) {
      const counted = [
        [clients, client],
        [pairs, `${client} ${email}`],
        ...(isKnownClient ? [] : ([[accounts, email]] as const)),
      ] as const;
      const charged: Extract<Charge, { outcome: "charged" }>[] = [];
      const refund = async () => {
        for (const charge of charged) await charge.refund();
      };
      for (const [counter, key] of counted) {
        const charge = await counter.charge(key, now);
        if (charge.outcome === "refused") {
          await refund();
          throw tooManyAttempts(charge);
        }
        charged.push(charge);
      }
      return { refund };
    },
  };
}
