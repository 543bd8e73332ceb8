/** All times in this room are milliseconds since the epoch. */
export interface User {
  readonly id: number;
  /** Normalised: trimmed, lower case, Unicode NFC. */
  readonly email: string;
  readonly admin: boolean;
  readonly createdAt: number;
  /** When the email address was confirmed; null: not yet. */
  readonly confirmedAt: number | null;
  readonly disabledAt: number | null;
  /** Language tag for pages and emails; null: the browser's language. */
  readonly language: string | null;
  /** False for an account that only uses single sign-on. */
  readonly hasPassword: boolean;
  /** The account has an authenticator app or a passkey: its password alone does not sign in. */
  readonly hasSecondFactor: boolean;
  /** The account is not a person's: it has the pushes that the service tokens of this group make. */
  readonly serviceGroupId?: number;
}

/** The client that sent a request. */
export interface ClientContext extends ClientOrigin {
  /** The IPv4 address or the IPv6 /64 network; limits are counted per key. */
  readonly throttleKey: string;
}

/** The part of a client context that is shown to the account's owner. Empty for commands run in a shell. */
export interface ClientOrigin {
  readonly address: string;
  readonly userAgent: string;
}

/** The origin of changes that an operator makes in a shell. */
export const noOrigin: ClientOrigin = { address: "", userAgent: "" };

export interface Session {
  readonly id: number;
  readonly user: User;
  /** The password was right and the second factor is still missing. Such a session may do nothing else. */
  readonly waitsForFactor: boolean;
  readonly createdAt: number;
  /** When the user last proved to be there; null: only by a sign-on at the provider that may have asked for nothing. */
  readonly provedAt: number | null;
  /** How long the browser keeps the cookie; undefined: until it closes. */
  readonly cookieSeconds: number | undefined;
  /** Derived from the session token: only a page made for this session can contain it. */
  readonly formToken: string;
}

/** How sessions begin, as the database stores it. `here`: by a password, a passkey or a sign-up. */
export const sessionWays = { here: 0, sign_on: 1, break_glass: 2 } as const;
export type SessionWay = keyof typeof sessionWays;

export interface ListedSession {
  readonly id: number;
  readonly createdAt: number;
  readonly seenAt: number;
  /** The address and browser that started the session. */
  readonly address: string;
  readonly userAgent: string;
}

export interface SessionOfUser extends ListedSession {
  readonly user: User;
  readonly way: SessionWay;
}

export interface Passkey {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** The permissions of an API token: create pushes; read its user's lists and audit trails; change and delete its user's pushes. */
export type Scope = "create" | "read" | "edit" | "expire";
export const allScopes: readonly Scope[] = ["create", "read", "edit", "expire"];

export interface ApiToken {
  readonly id: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The token is refused from this time on; null: it does not expire. */
  readonly expiresAt: number | null;
  /** Addresses and CIDR networks that may use it; empty: any address. */
  readonly networks: readonly string[];
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  /** null: never used. */
  readonly lastUsedAddress: string | null;
  readonly revokedAt: number | null;
}
