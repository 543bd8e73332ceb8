import { hourMs, minuteMs } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Argon2Queue } from "../../crypto/passphrase.ts";
import { type Charge, type Counter, type Limits, tooManyAttempts } from "../../limits/limits.ts";
import type { ClientContext, User } from "../account.ts";
import type { KnownClients } from "../sessions/known-clients.ts";
import { hasCharacters } from "../text.ts";
import { passwordCharactersMax } from "./password-rules.ts";

export interface PasswordTry {
  /** Normalised; undefined: what was typed is no address. */
  readonly email: string | undefined;
  readonly account: { readonly user: User; readonly passwordHash: string } | undefined;
  readonly password: string;
  readonly client: ClientContext;
}

/**
 * The one way a password is tried, whichever door asks: all doors draw on the same counters.
 * @returns false for a disabled account and for one without password too; unknown ones cost the same work.
 * @throws AppError too_many_requests, unavailable.
 */
export type PasswordCheck = (attempt: PasswordTry, now: number) => Promise<boolean>;

/** All malformed addresses share one counter: what is typed there must not become keys without end. */
const malformed = "";
/** An id that no user has. */
const nobody = 0;

/**
 * The hash that an unknown e-mail is checked against, at the price of a real one, so that the time taken does not
 * tell who has an account. Its digest is random, not the digest of anything.
 */
export function makeDummyHash(random: Random): string {
  const unpadded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=19456,t=2,p=1$${unpadded(random.bytes(16))}$${unpadded(random.bytes(32))}`;
}

export function createPasswordCheck(deps: {
  readonly random: Random;
  readonly argon2: Pick<Argon2Queue, "verifyPassword">;
  readonly knownClients: Pick<KnownClients, "isKnown">;
  readonly limits: Limits;
}): PasswordCheck {
  const throttle = createSignInThrottle(signInLimits, deps.limits);
  const dummyHash = makeDummyHash(deps.random);

  return async ({ email, account, password, client }, now) => {
    // Looked for without an account too, in vain: a question to the database takes a time that can be measured.
    const isKnownClient = await deps.knownClients.isKnown(account?.user.id ?? nobody, client);
    const attempt = await throttle.charge(
      { client: client.throttleKey, email: email ?? malformed, isKnownClient },
      now,
    );
    if (!hasCharacters(password, 0, passwordCharactersMax)) return false;
    const able = account !== undefined && account.passwordHash !== "" && account.user.disabledAt === null;
    let matches: boolean;
    try {
      matches = await deps.argon2.verifyPassword(able ? account.passwordHash : dummyHash, password, client.throttleKey);
    } catch (error) {
      // Not tried at all, so nothing was learnt by it.
      await attempt.refund();
      throw error;
    }
    if (!able || !matches) return false;
    await attempt.refund();
    return true;
  };
}

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

export function createSignInThrottle(sizes: SignInLimits, limits: Limits) {
  const { windowMs, rememberedMax } = sizes;
  const make = (name: string, max: number, length = windowMs): Counter =>
    limits.inWindows({ name, max, windowMs: length, rememberedMax });
  const clients = make("sign-in client", sizes.perClientMax);
  const pairs = make("sign-in client and e-mail", sizes.perPairMax);
  const accounts = make("sign-in e-mail", sizes.perAccountMax, sizes.accountWindowMs);

  return {
    /**
     * Counts the attempt before it is made, so that parallel guesses gain nothing. What counts for everybody belongs to
     * one client: a stranger's guesses slow the stranger alone. Beside it stands a wide bound for one account, against
     * guesses from thousands of addresses at once. A place that the account was used from passes it by and never fills it,
     * so such guesses cannot keep its owner out; at a new place the owner can come in by a reset of the password, which
     * makes the place a known one.
     * @throws AppError too_many_requests; the refused attempt is not counted.
     */
    async charge({ client, email, isKnownClient }: SignInAttempt, now: number): Promise<{ refund(): Promise<void> }> {
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
