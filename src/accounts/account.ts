export interface User {
  readonly id: number;
  /** Normalised: trimmed, lower case, Unicode NFC. */
  readonly email: string;
  readonly admin: boolean;
  /** Milliseconds since the epoch, like every time here. */
  readonly createdAt: number;
}

export interface ApiToken {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}
