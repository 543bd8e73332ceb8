export interface User {
  readonly id: number;
  readonly email: string;
  readonly admin: boolean;
  readonly createdAt: number;
}

export interface ApiToken {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** The door of the room: users, sessions, API tokens. Secrets are returned once, when made, and stored as digests. */
export interface Accounts {
  /** @throws AppError invalid_fields on `email` (malformed, taken) or `password` (12 to 1024 characters). */
  createUser(request: { email: string; password: string; admin: boolean }): Promise<User>;
  findUserByEmail(email: string): Promise<User | undefined>;

  /** undefined: no such pair; the same work is done for an unknown e-mail. @throws AppError too_many_requests. */
  signIn(request: { email: string; password: string; client: string }): Promise<{ user: User; sessionToken: string } | undefined>;
  signOut(sessionToken: string): Promise<void>;
  authenticateSession(sessionToken: string): Promise<User | undefined>;

  /** @throws AppError invalid_fields on `name` (1 to 255 characters). */
  createToken(userId: number, name: string): Promise<{ token: string; apiToken: ApiToken }>;
  /** Newest first; revoked ones stay listed. */
  listTokens(userId: number): Promise<readonly ApiToken[]>;
  /** false: no such token of that user, or revoked already. */
  revokeToken(userId: number, tokenId: number): Promise<boolean>;
  /** `email`: when given (X-User-Email), the token must be that user's. */
  authenticateToken(token: string, email?: string): Promise<User | undefined>;
}
