import type { MissingPart, SourceUser } from "@sealpush/import-password-pusher";
import type { AdoptedUser } from "../accounts/admin/adopt-user.ts";
import { readTotpSecret, totpStep } from "../accounts/factors/totp.ts";
import { isApiToken } from "../accounts/tokens/api-tokens.ts";
import { secondMs } from "../base/clock.ts";
import { normalizeEmail } from "../base/email.ts";
import { adoptPasswordHash } from "../crypto/passphrase.ts";
import { findMessages } from "../i18n/i18n.ts";
import type { UnconfirmedUsers } from "./import-results.ts";

const unreadable = {
  password: {
    part: "password",
    reason: "Its password hash has an unsupported format. The account is imported without a password: set a new one.",
  },
  apiToken: {
    part: "api_token",
    reason: "Its API token does not have the shape of an API token and is not imported.",
  },
  factor: {
    part: "factor",
    reason:
      "The secret of its authenticator app cannot be read. The account is imported without a password, because a password " +
      "alone must not be enough to sign in.",
  },
} as const satisfies Readonly<Record<string, MissingPart>>;

/**
 * @param unconfirmed what becomes of a user who has not confirmed the address.
 * @returns undefined: the email address is not valid here.
 */
export function readUser(source: SourceUser, unconfirmed: UnconfirmedUsers) {
  const email = normalizeEmail(source.email);
  if (email === undefined) return undefined;
  const missingParts: MissingPart[] = [];
  const secret = source.totp === null ? null : readTotpSecret(source.totp.secret);
  if (secret === undefined) missingParts.push(unreadable.factor);
  // Without its factor, an account gets no password either: it alone must not be enough to sign in.
  const givenHash = secret === undefined ? "" : source.passwordHash;
  const passwordHash = givenHash === "" ? "" : adoptPasswordHash(givenHash);
  if (passwordHash === undefined) missingParts.push(unreadable.password);
  const apiToken = source.apiToken || null;
  const isToken = apiToken === null || isApiToken(apiToken);
  if (!isToken) missingParts.push(unreadable.apiToken);
  const lastStepAt = source.totp?.lastStepAt ?? null;
  const user: AdoptedUser = {
    ...source,
    email,
    passwordHash: passwordHash ?? "",
    language: findMessages(source.language ?? undefined)?.locale.tag ?? null,
    confirmedAt: source.confirmedAt ?? (unconfirmed === "unconfirmed" ? null : source.createdAt),
    apiToken: isToken ? apiToken : null,
    totp: secret ? { secret, lastStep: lastStepAt === null ? 0 : totpStep(lastStepAt * secondMs) } : null,
  };
  return { user, missingParts };
}
