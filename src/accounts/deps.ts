import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import type { AccessKeys } from "../crypto/access-keys.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Database, Transaction } from "../database/database.ts";
import type { HashAttempts } from "../limits/hash-attempts.ts";
import type { Limits } from "../limits/limits.ts";
import type { Outbox } from "../mail/outbox.ts";
import type { Provider } from "./sso/provider.ts";

/** What accounts change in groups: whom the provider of single sign-on names as members, and service accounts. */
export interface ClaimedGroups {
  /** The values of the groups claim that make members; none: no group has one. */
  readonly claims: () => Promise<readonly string[]>;
  /**
   * The user is from now on in the groups with these values, and in no other one by the claim. Requires the accounts lock.
   * @returns the names of the groups before and after; undefined: nothing has changed.
   */
  readonly setByClaim: (
    tx: Transaction,
    userId: number,
    values: readonly string[],
    now: number,
  ) => Promise<{ readonly before: readonly string[]; readonly after: readonly string[] } | undefined>;
  /** Requires the accounts lock. */
  readonly exists: (tx: Transaction, groupId: number) => Promise<boolean>;
  /** The rules of the group hold for its service account. Requires the accounts lock. */
  readonly addServiceAccount: (
    tx: Transaction,
    member: { readonly groupId: number; readonly userId: number },
    now: number,
  ) => Promise<void>;
}

export interface AccountsDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly argon2: Pick<Argon2Queue, "hashPassword" | "verifyPassword">;
  /** Digests and MACs of the rows that grant access. */
  readonly access: AccessKeys;
  readonly settings: Config["accounts"];
  readonly keyring: () => Keyring;
  readonly outbox: Outbox;
  /** See `createMail`. */
  readonly requestedOutbox: Outbox;
  /** False: the mail server takes no emails for now. */
  readonly mailAvailable: () => boolean;
  readonly limits: Limits;
  readonly hashAttempts: HashAttempts;
  /** For a transaction that may give the account into other hands: the lists of its user lose their links. */
  readonly destroyStoredLinks: (tx: Transaction, userId: number) => Promise<void>;
  /** undefined: single sign-on is off. */
  readonly provider: Provider | undefined;
  readonly claimedGroups: ClaimedGroups;
  /** Administrators have closed the sign-up; the settings may close it too. */
  readonly isSignUpClosed: () => Promise<boolean>;
  /** The time of last use could not be stored. The request still succeeds. */
  readonly onUseNotRecorded: (of: "api_token" | "session" | "sender_choice", error: unknown) => void;
}
