import { hourMs, minuteMs } from "../../base/clock.ts";
import { makeDummyHash } from "../../crypto/passphrase.ts";
import { type Charge, type Limits, tooManyAttempts } from "../../limits/limits.ts";
import { createNetworkCounter } from "../../limits/network-counter.ts";
import type { ClientContext, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { KnownClients } from "../sessions/known-clients.ts";
import { hasCharacters } from "../text.ts";
import { passwordCharactersMax } from "./password-rules.ts";

export interface PasswordTry {
  /** Normalised; undefined: not a valid address. */
  readonly email: string | undefined;
  readonly account: { readonly user: User; readonly passwordHash: string } | undefined;
  readonly password: string;
  readonly client: ClientContext;
}

/**
 * The only way a password is checked, so that all attempts share the same limits.
 * @returns false also for a disabled account and for one without a password; an unknown account costs the same work.
 * @throws AppError too_many_requests, unavailable.
 */
export type PasswordCheck = (attempt: PasswordTry, now: number) => Promise<boolean>;

/** All malformed addresses share one counter: arbitrary input must not create any number of keys. */
const malformed = "";
/** No user has this id. */
const nobody = 0;

export function createPasswordCheck(
  deps: Pick<AccountsDeps, "random" | "argon2" | "limits" | "hashAttempts"> & {
    readonly knownClients: Pick<KnownClients, "isKnown">;
  },
): PasswordCheck {
  const throttle = createSignInThrottle(signInLimits, deps.limits);
  const dummyHash = makeDummyHash(deps.random);

  return async ({ email, account, password, client }, now) => {
    // Query even if there is no account: a client can measure the time of a database query.
    const isKnownClient = await deps.knownClients.isKnown(account?.user.id ?? nobody, client);
    const attempt = await throttle.charge(
      { client: client.throttleKey, email: email ?? malformed, isKnownClient },
      now,
    );
    if (!hasCharacters(password, 0, passwordCharactersMax)) return false;
    const able = account !== undefined && account.passwordHash !== "" && account.user.disabledAt === null;
    const passwordHash = able ? account.passwordHash : dummyHash;
    const make = async () => (await deps.argon2.verifyPassword(passwordHash, password, client.throttleKey)) && able;
    try {
      const made = await deps.hashAttempts.run({ client: client.throttleKey, now, make, isRight: (right) => right });
      if (made.outcome === "refused") throw tooManyAttempts(made);
      if (!made.result) return false;
    } catch (error) {
      // The password was not checked, so the attempt revealed nothing.
      await attempt.refund();
      throw error;
    }
    await attempt.refund();
    return true;
  };
}

export interface SignInLimits {
  readonly windowMs: number;
  /** Failed attempts of one client on one email address in a window. */
  readonly perPairMax: number;
  /** Failed attempts of one client on all addresses. */
  readonly perClientMax: number;
  readonly accountWindowMs: number;
  /** Failed attempts on one email address in an account window, by all clients that are not known to it. */
  readonly perAccountMax: number;
  /** The number of clients one process remembers; the same for pairs and for addresses. */
  readonly rememberedMax: number;
}

export const signInLimits: SignInLimits = {
  windowMs: 10 * minuteMs,
  perPairMax: 10,
  perClientMax: 50,
  accountWindowMs: hourMs,
  perAccountMax: 1_000,
  rememberedMax: 40_000,
};

export interface SignInAttempt {
  readonly client: string;
  /** "" for everything that is not an address: arbitrary input must not create any number of keys. */
  readonly email: string;
  /** The client has signed in to the account before. */
  readonly isKnownClient: boolean;
}

export function createSignInThrottle(sizes: SignInLimits, limits: Limits) {
  const { windowMs, rememberedMax } = sizes;
  const make = (name: string, max: number, length = windowMs) =>
    limits.inWindows({ name, max, windowMs: length, rememberedMax });
  const makeShared = (name: string, max: number) =>
    createNetworkCounter((shares) => make(name, Math.floor(max * shares)));
  const clients = makeShared("sign-in client", sizes.perClientMax);
  const pairs = makeShared("sign-in client and email", sizes.perPairMax);
  const accounts = make("sign-in email", sizes.perAccountMax, sizes.accountWindowMs);

  return {
    /**
     * Charges the attempt before it is made, so that parallel guesses gain nothing. The limits per client only slow the
     * client that guesses. A wide limit per account stops guesses from many addresses. Known clients are exempt
     * from it and do not use it up, so such guesses cannot lock the owner out; with a new client the owner can reset the
     * password, which makes the client a known one.
     * @throws AppError too_many_requests; the refused attempt is not counted.
     */
    async charge({ client, email, isKnownClient }: SignInAttempt, now: number): Promise<{ refund(): Promise<void> }> {
      const charges = [
        () => clients.charge(client, now),
        () => pairs.charge(client, now, 1, (name) => `${name} ${email}`),
        ...(isKnownClient ? [] : [() => accounts.charge(email, now)]),
      ];
      const charged: Extract<Charge, { outcome: "charged" }>[] = [];
      const refund = async () => {
        for (const charge of charged) await charge.refund();
      };
      for (const makeCharge of charges) {
        const charge = await makeCharge();
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
