import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Argon2Queue } from "../crypto/passphrase.ts";
import type { Database } from "../db/sqlite.ts";
import type { ApiToken, User } from "./account.ts";
import { createApiTokens } from "./api-tokens.ts";
import { createSessions } from "./sessions.ts";
import { createSignIn } from "./sign-in.ts";
import { createAccountStore } from "./store-sqlite.ts";
import { createUsers } from "./users.ts";

export type { ApiToken, User } from "./account.ts";

/** The door of the room: users, sessions, API tokens. Secrets are returned once, when made, and stored as digests. */
export interface Accounts {
  /** @throws AppError invalid_fields on `email` (malformed, taken) or `password` (12 to 1024 characters). */
  createUser(request: { email: string; password: string; admin: boolean }): Promise<User>;
  findUserByEmail(email: string): Promise<User | undefined>;

  /**
   * undefined: no such pair; the same work is done for an unknown e-mail. `client` is a throttle key.
   * @throws AppError too_many_requests, unavailable.
   */
  signIn(request: {
    email: string;
    password: string;
    client: string;
  }): Promise<{ user: User; sessionToken: string } | undefined>;
  signOut(sessionToken: string): Promise<void>;
  authenticateSession(sessionToken: string): Promise<User | undefined>;
  /** For the sweeper: removes at most `sessionsMax` sessions that have run out. @returns how many. */
  removeExpiredSessions(sessionsMax: number): Promise<number>;

  /** @throws AppError invalid_fields on `name` (1 to 255 characters, or too many tokens are in use). */
  createToken(userId: number, name: string): Promise<{ token: string; apiToken: ApiToken }>;
  /** Newest first; revoked ones stay listed, the newest 200 of them. */
  listTokens(userId: number): Promise<readonly ApiToken[]>;
  /** false: no such token of that user, or revoked already. */
  revokeToken(userId: number, tokenId: number): Promise<boolean>;
  /** `email`: when given (X-User-Email), the token must be that user's. */
  authenticateToken(token: string, email?: string): Promise<User | undefined>;
}

export interface AccountsDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly argon2: Pick<Argon2Queue, "hashPassword" | "verifyPassword">;
  /** A session unused for this long has ended. */
  readonly sessionTimeoutSeconds: number;
  /** The time of last use could not be stored: the request goes on, the failure is told here. */
  readonly onUseNotRecorded: (of: "api_token" | "session", error: unknown) => void;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  const store = createAccountStore(deps.db);
  const sessions = createSessions({ ...deps, store });
  return {
    ...createUsers({ ...deps, store }),
    ...sessions.door,
    ...createApiTokens({ ...deps, store }),
    signIn: createSignIn({ ...deps, store, startSession: sessions.start }),
  };
}
