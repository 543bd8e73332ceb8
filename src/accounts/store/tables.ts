import { boolean, bytes, converted, integer, nullable, oneOf, Table, text, withDefault } from "../../database/table.ts";
import { allScopes, type Scope } from "../account.ts";
import { type AdminAction, adminActions } from "../admin/administration.ts";
import { AccessTable } from "./access-table.ts";

// Columns are either readable metadata or sealed. Times in milliseconds since the epoch.

const userColumns = {
  id: integer,
  email: text,
  /** A new address that waits for its confirmation. */
  unconfirmedEmail: withDefault(nullable(text), null),
  /** See `PasswordSeals`. null: the account has no password. */
  passwordSealed: nullable(bytes),
  admin: boolean,
  language: nullable(text),
  /** As written by `writePushDefaults`; null: never set. */
  pushDefaults: withDefault(nullable(text), null),
  createdAt: integer,
  updatedAt: integer,
  confirmedAt: nullable(integer),
  disabledAt: withDefault(nullable(integer), null),
  lastSignedInAt: withDefault(nullable(integer), null),
  signInCount: withDefault(integer, 0),
  factorFailures: withDefault(integer, 0),
  factorFailuresSince: withDefault(integer, 0),
  /** Deciding, unlike the hash, whose seal authenticates it. */
  hasPassword: boolean,
  /** How many authenticator apps and passkeys the account has: a deleted row of one must not turn the second factor off. */
  secondFactors: withDefault(integer, 0),
};
export const users = new AccessTable("users", "user", userColumns, [
  "id",
  "email",
  "admin",
  "confirmedAt",
  "disabledAt",
  "hasPassword",
  "secondFactors",
  "factorFailures",
  "factorFailuresSince",
]);

const sessionColumns = {
  digest: bytes,
  id: integer,
  userId: integer,
  createdAt: integer,
  seenAt: integer,
  waitsForFactor: boolean,
  /** The browser keeps the cookie when it closes. */
  persistent: boolean,
  address: text,
  userAgent: text,
};
export const sessions = new AccessTable("sessions", "session", sessionColumns, [
  "digest",
  "id",
  "userId",
  "createdAt",
  "waitsForFactor",
  "persistent",
]);

const scopeList = converted<readonly Scope[], string>({
  decode: (stored) => {
    const given = stored.split(" ");
    return allScopes.filter((scope) => given.includes(scope));
  },
  encode: (scopes) => scopes.join(" "),
});

const networkList = converted<readonly string[], string | null>({
  decode: (stored) => (stored === null ? [] : stored.split(",")),
  encode: (networks) => (networks.length === 0 ? null : networks.join(",")),
});

/** A revoked token loses its MAC. */
const apiTokenColumns = {
  id: integer,
  userId: integer,
  name: text,
  digest: bytes,
  scopes: scopeList,
  /** Empty: any address. */
  networks: withDefault(networkList, []),
  createdAt: integer,
  expiresAt: withDefault(nullable(integer), null),
  revokedAt: withDefault(nullable(integer), null),
  lastUsedAt: withDefault(nullable(integer), null),
  lastUsedAddress: withDefault(nullable(text), null),
};
export const apiTokens = new AccessTable("api_tokens", "token", apiTokenColumns, [
  "id",
  "userId",
  "digest",
  "scopes",
  "networks",
  "expiresAt",
]);

const mailedLinkColumns = {
  digest: bytes,
  userId: integer,
  purpose: oneOf({ confirm_account: 0, reset_password: 1, change_email: 2, invitation: 3 }),
  /** For a change of the email address; null: the link has no effect any more. */
  newEmail: withDefault(nullable(text), null),
  /** The password of the sign-up that caused the email; null: not caused by a sign-up. */
  passwordSealed: withDefault(nullable(bytes), null),
  /** Deciding, unlike the hash, whose seal authenticates it. */
  setsPassword: withDefault(boolean, false),
  createdAt: integer,
};
export const mailedLinks = new AccessTable("mailed_links", "link", mailedLinkColumns, [
  "digest",
  "userId",
  "purpose",
  "newEmail",
  "setsPassword",
  "createdAt",
]);

/** Deleted accounts, until all data of their pushes is removed. */
export const deletedUsers = new Table("deleted_users", { userId: integer, deletedAt: integer });

/** Clients that have signed in to an account before, as digests. */
export const knownClients = new Table("known_clients", { userId: integer, digest: bytes, seenAt: integer });

/** The sealed secret contains the user, so it authenticates the row. */
export const totpFactors = new Table("totp_factors", {
  userId: integer,
  secretSealed: bytes,
  /** In Unix time / 30 s: codes of this step and of earlier ones are refused. */
  lastStep: integer,
  confirmedAt: integer,
});

/** The digest contains the user, so it authenticates the row. A code that has been used has no row. */
export const backupCodes = new Table("backup_codes", { userId: integer, digest: bytes });

const passkeyColumns = {
  id: integer,
  userId: integer,
  name: text,
  credentialId: bytes,
  /** COSE (RFC 9052). */
  publicKey: bytes,
  signCount: integer,
  transports: converted<readonly string[], string>({
    decode: (stored) => stored.split(" ").filter((transport) => transport !== ""),
    encode: (transports) => transports.join(" "),
  }),
  createdAt: integer,
  lastUsedAt: withDefault(nullable(integer), null),
};
export const passkeys = new AccessTable("passkeys", "passkey", passkeyColumns, [
  "id",
  "userId",
  "credentialId",
  "publicKey",
  "signCount",
]);

/** Challenges that were answered, until they expire. */
export const passkeyChallenges = new Table("passkey_challenges", { digest: bytes, answeredAt: integer });

const identityColumns = { issuer: text, subject: text, userId: integer, createdAt: integer };
export const identities = new AccessTable("identities", "identity", identityColumns, ["issuer", "subject", "userId"]);

export const accessTables = [users, sessions, apiTokens, mailedLinks, passkeys, identities] as const;

export const signOnSteps = new Table("sign_on_steps", {
  digest: bytes,
  stepSealed: bytes,
  /** Throttle key of the client that began the step. */
  client: text,
  createdAt: integer,
});

/** The id is assigned by the database. */
export const adminEntries = new Table("admin_audit_entries", {
  createdAt: integer,
  adminId: nullable(integer),
  adminEmail: text,
  action: converted<AdminAction, string>({
    decode(stored) {
      const action = adminActions.find((name) => name === stored);
      if (action === undefined) throw new Error(`The database holds the unknown action ${stored}.`);
      return action;
    },
    encode: (action) => action,
  }),
  subject: text,
  address: text,
});
