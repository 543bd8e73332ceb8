import { underMasterKey } from "../../crypto/sealed-column.ts";
import { AuthenticatedTable } from "../../database/authenticated-table.ts";
import {
  authenticated,
  boolean,
  bound,
  bytes,
  converted,
  harmless,
  integer,
  nullable,
  oneOf,
  oneOfTexts,
  reasons,
  sealed,
  Table,
  text,
  withDefault,
} from "../../database/table.ts";
import { allScopes, type Scope, sessionWays } from "../account.ts";
import { adminActions } from "../admin/admin-actions.ts";

// Times in milliseconds since the epoch.

const { limit, shown } = reasons;
const keyedDigest = "a keyed digest: without the access secret nobody can compute one for a secret of their own";
const password = underMasterKey("passwords", { id: "id", owner: "id" });
const signUpPassword = underMasterKey("passwords", { id: "digest", owner: "user_id" });
const totpSecret = underMasterKey("second factors", { id: "user_id", owner: "user_id" });
const signOnStep = underMasterKey("single sign-on", { id: "digest", owner: "NULL" });

export const users = new AuthenticatedTable("users", "user", {
  id: authenticated(integer),
  email: authenticated(text),
  /** A new address that waits for its confirmation. */
  unconfirmedEmail: harmless(withDefault(nullable(text), null), "the emailed link that confirms it contains it"),
  /** See `PasswordSeals`. null: the account has no password. */
  passwordSealed: sealed(nullable(bytes), { password }),
  admin: authenticated(boolean),
  language: harmless(nullable(text), shown),
  /** As written by `writePushDefaults`; null: never set. */
  pushDefaults: harmless(withDefault(nullable(text), null), limit),
  createdAt: harmless(integer, shown),
  updatedAt: harmless(integer, shown),
  confirmedAt: authenticated(nullable(integer)),
  disabledAt: authenticated(withDefault(nullable(integer), null)),
  lastSignedInAt: harmless(withDefault(nullable(integer), null), shown),
  signInCount: harmless(withDefault(integer, 0), shown),
  /** By single sign-on; null: never. */
  lastSignedOnAt: authenticated(withDefault(nullable(integer), null)),
  /** An operator or administrator has made the account, and nobody has used it: there is nothing in it. */
  isUnused: authenticated(withDefault(boolean, false)),
  /** When an operator last made a break-glass link for the account; null: never. See `isBreakGlassIn`. */
  breakGlassAt: authenticated(withDefault(nullable(integer), null)),
  factorFailures: authenticated(withDefault(integer, 0)),
  factorFailuresSince: authenticated(withDefault(integer, 0)),
  /** Deciding, unlike the hash, whose seal authenticates it. */
  hasPassword: authenticated(boolean),
  /** How many authenticator apps and passkeys the account has: a deleted row of one must not turn the second factor off. */
  secondFactors: authenticated(withDefault(integer, 0)),
  /** The group whose service tokens act as this account; null: it is a person's. See `openUser`. */
  serviceGroupId: authenticated(withDefault(nullable(integer), null)),
});

export const sessions = new AuthenticatedTable("sessions", "session", {
  digest: authenticated(bytes),
  id: authenticated(integer),
  userId: authenticated(integer),
  way: authenticated(oneOf(sessionWays)),
  createdAt: authenticated(integer),
  seenAt: harmless(integer, limit),
  waitsForFactor: authenticated(boolean),
  /** The browser keeps the cookie when it closes. */
  persistent: authenticated(boolean),
  /** When the user last proved to be there, by a password, a factor or a fresh sign-on; null: by a sign-on that may have been silent. */
  provedAt: authenticated(nullable(integer)),
  /** The provider's groups make the user an administrator until then; null: they do not. */
  adminUntil: authenticated(nullable(integer)),
  /** See `ProviderSession`. The ids follow their issuer and a blank. */
  providerSid: authenticated(nullable(text)),
  providerSubject: authenticated(nullable(text)),
  providerIssuedAt: authenticated(nullable(integer)),
  address: harmless(text, shown),
  userAgent: harmless(text, shown),
});

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

const transportList = converted<readonly string[], string>({
  decode: (stored) => stored.split(" ").filter((transport) => transport !== ""),
  encode: (transports) => transports.join(" "),
});

/** A revoked token loses its MAC. */
export const apiTokens = new AuthenticatedTable("api_tokens", "token", {
  id: authenticated(integer),
  userId: authenticated(integer),
  name: harmless(text, shown),
  digest: authenticated(bytes),
  scopes: authenticated(scopeList),
  /** Empty: any address. */
  networks: authenticated(withDefault(networkList, [])),
  createdAt: harmless(integer, shown),
  expiresAt: authenticated(withDefault(nullable(integer), null)),
  revokedAt: harmless(withDefault(nullable(integer), null), "a revoked token has no MAC"),
  lastUsedAt: harmless(withDefault(nullable(integer), null), shown),
  lastUsedAddress: harmless(withDefault(nullable(text), null), shown),
});

export const mailedLinks = new AuthenticatedTable("mailed_links", "link", {
  digest: authenticated(bytes),
  userId: authenticated(integer),
  purpose: authenticated(
    oneOf({ confirm_account: 0, reset_password: 1, change_email: 2, invitation: 3, break_glass: 4 }),
  ),
  /** For a change of the email address; null: the link has no effect any more. */
  newEmail: authenticated(withDefault(nullable(text), null)),
  /** The password of the sign-up that caused the email; null: not caused by a sign-up. */
  passwordSealed: sealed(withDefault(nullable(bytes), null), { signUpPassword }),
  /** Deciding, unlike the hash, whose seal authenticates it. */
  setsPassword: authenticated(withDefault(boolean, false)),
  createdAt: authenticated(integer),
});

/** Deleted accounts, until all data of their pushes is removed. */
export const deletedUsers = new Table("deleted_users", {
  userId: harmless(integer, "ids of users are random: an id that is missing here belongs to nobody"),
  deletedAt: harmless(integer, reasons.job),
});

/** Clients that have signed in to an account before, as digests. */
export const knownClients = new Table("known_clients", {
  userId: harmless(integer, "a known client only has other limits of guesses"),
  digest: harmless(bytes, "a known client only has other limits of guesses"),
  seenAt: harmless(integer, limit),
});

export const totpFactors = new Table("totp_factors", {
  userId: bound(integer, "the sealed secret contains the user"),
  secretSealed: sealed(bytes, { totpSecret }),
  /** In Unix time / 30 s: codes of this step and of earlier ones are refused. */
  lastStep: harmless(integer, "a lower one gives what an older genuine row gives"),
  confirmedAt: harmless(integer, shown),
});

/** A code that has been used has no row. */
export const backupCodes = new Table("backup_codes", {
  userId: bound(integer, "the digest contains the user"),
  digest: bound(bytes, keyedDigest),
});

export const passkeys = new AuthenticatedTable("passkeys", "passkey", {
  id: authenticated(integer),
  userId: authenticated(integer),
  name: harmless(text, shown),
  credentialId: authenticated(bytes),
  /** COSE (RFC 9052). */
  publicKey: authenticated(bytes),
  signCount: authenticated(integer),
  transports: harmless(transportList, "browsers take it as a hint where the passkey may be"),
  createdAt: harmless(integer, shown),
  lastUsedAt: harmless(withDefault(nullable(integer), null), shown),
});

/** Challenges that were answered, until they expire. */
export const passkeyChallenges = new Table("passkey_challenges", {
  digest: harmless(bytes, "an answer can be repeated only by who has both the answer and the right to delete the row"),
  answeredAt: harmless(integer, limit),
});

export const identities = new AuthenticatedTable("identities", "identity", {
  issuer: authenticated(text),
  subject: authenticated(text),
  userId: authenticated(integer),
  /** Microsoft's `oid`, which is the same for every client of a tenant; null: the provider sends none. */
  objectId: authenticated(withDefault(nullable(text), null)),
  /** The client id has changed, and with it every subject: the next sign-on with this object id brings the new one. */
  movesByObjectId: authenticated(withDefault(boolean, false)),
  createdAt: harmless(integer, shown),
});

/** What the provider says about accounts over SCIM. Accounts that it has said nothing about have no row. */
export const scimUsers = new AuthenticatedTable("scim_users", "scim", {
  /** The user's. */
  id: authenticated(integer),
  /** As the provider sent it. */
  userName: authenticated(text),
  /** See `nameKeyOf`. */
  nameKey: authenticated(text),
  externalId: authenticated(nullable(text)),
  /** The account was made over SCIM. */
  isMade: authenticated(boolean),
  /** SCIM has deleted the user: the account is disabled, and not found over SCIM. */
  isDeleted: authenticated(boolean),
  /** SCIM has disabled the account, and no administrator since. */
  hasDisabled: authenticated(boolean),
  /** SCIM has given an address to an account that had been used. Threat: that address then asks for a new password. */
  hasGivenAddress: authenticated(boolean),
});

export const accessTables = [users, sessions, apiTokens, mailedLinks, passkeys, identities, scimUsers] as const;

export const signOnSteps = new Table("sign_on_steps", {
  digest: bound(bytes, keyedDigest),
  stepSealed: sealed(bytes, { signOnStep }),
  /** Throttle key of the client that began the step. */
  client: harmless(text, limit),
  createdAt: harmless(integer, limit),
});

/** Logouts that the provider reported. They count for ten minutes, and the next cleanup removes them. */
export const providerLogouts = new Table("provider_logouts", {
  key: harmless(text, "a row only prevents a sign-on of ten minutes, and a writer can delete every row"),
  issuedAt: harmless(integer, limit),
  receivedAt: harmless(integer, limit),
});

/** The id is assigned by the database. */
export const adminEntries = new Table("admin_audit_entries", {
  createdAt: harmless(integer, shown),
  adminId: harmless(nullable(integer), shown),
  adminEmail: harmless(text, shown),
  action: harmless(oneOfTexts(adminActions), shown),
  subject: harmless(text, shown),
  address: harmless(text, shown),
});
