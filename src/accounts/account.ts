export interface User {
  readonly id: number;
  /** Normalised: trimmed, lower case, Unicode NFC. */
  readonly email: string;
  readonly admin: boolean;
  /** Milliseconds since the epoch, like every time here. */
  readonly createdAt: number;
  /** When the e-mail was proven; null: not yet. */
  readonly confirmedAt: number | null;
  readonly disabledAt: number | null;
  /** The tag of the language that pages and mails use; null: the browser's. */
  readonly language: string | null;
  /** False: an account that signs in elsewhere only. */
  readonly hasPassword: boolean;
  /** An authenticator app or a passkey stands: a password alone does not sign in. */
  readonly hasSecondFactor: boolean;
}

/** Where somebody asks from. */
export interface ClientContext {
  /** Throttle key: the IPv4 address, or the IPv6 /64 network. */
  readonly throttleKey: string;
  readonly address: string;
  readonly userAgent: string;
}

export interface Session {
  readonly id: number;
  readonly user: User;
  /** Half signed in: the password was right, the second factor has not come. It may do nothing else. */
  readonly waitsForFactor: boolean;
  readonly createdAt: number;
  /** Derived from the session's token: only a page made for this session can hold it. */
  readonly formToken: string;
}

/** A session as its owner sees it in a list. */
export interface ListedSession {
  readonly id: number;
  readonly createdAt: number;
  readonly seenAt: number;
  /** Where it began. */
  readonly address: string;
  readonly userAgent: string;
}

export interface Passkey {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** What an API token may do: make pushes; read its user's lists and audit trails; end its user's pushes. */
export type Scope = "create" | "read" | "expire";
export const allScopes: readonly Scope[] = ["create", "read", "expire"];

export interface ApiToken {
  readonly id: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** From then on it is refused; null: it has no end. */
  readonly expiresAt: number | null;
  /** Addresses and CIDR networks it may be used from; empty: anywhere. */
  readonly networks: readonly string[];
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  /** Where from; null: never used, or before this was kept. */
  readonly lastUsedAddress: string | null;
  readonly revokedAt: number | null;
}
