import type { MissingPart, Part, SourceTotp, SourceUser } from "@sealpush/import-password-pusher";
import type { AdoptedUser } from "../accounts/admin/adopt-user.ts";
import { totpStep } from "../accounts/factors/totp.ts";
import { isApiToken } from "../accounts/tokens/api-tokens.ts";
import { secondMs } from "../base/clock.ts";
import { normalizeEmail } from "../base/email.ts";
import { adoptPasswordHash } from "../crypto/passphrase.ts";
import { findMessages } from "../i18n/i18n.ts";
import type { UnconfirmedUsers } from "./import-results.ts";

export type ReadUser =
  | { readonly outcome: "read"; readonly user: AdoptedUser; readonly missingParts: readonly MissingPart[] }
  | { readonly outcome: "refused"; readonly reason: string };

/** @param unconfirmed what becomes of a user who has not confirmed the address. */
export function readUser(source: SourceUser, unconfirmed: UnconfirmedUsers): ReadUser {
  const email = normalizeEmail(source.email);
  if (email === undefined) {
    return { outcome: "refused", reason: "Its email address is not valid here." };
  }
  const missingParts: MissingPart[] = [];
  const reportMissing: ReportMissing = (part, reason) => {
    missingParts.push({ part, reason });
    return null;
  };
  const totp = source.totp === null ? null : readTotp(source.totp, reportMissing);
  const hasLostFactor = source.totp !== null && totp === null;
  const user: AdoptedUser = {
    email,
    passwordHash: hasLostFactor ? "" : readHash(source.passwordHash, reportMissing),
    admin: source.admin,
    language: findMessages(source.language ?? undefined)?.locale.tag ?? null,
    confirmedAt: source.confirmedAt ?? (unconfirmed === "unconfirmed" ? null : source.createdAt),
    createdAt: source.createdAt,
    updatedAt: source.updatedAt,
    lastSignedInAt: source.lastSignedInAt,
    apiToken: readToken(source.apiToken, reportMissing),
    totp,
  };
  return { outcome: "read", user, missingParts };
}

type ReportMissing = (part: Part, reason: string) => null;

function readHash(hash: string, reportMissing: ReportMissing): string {
  if (hash === "") return "";
  const adopted = adoptPasswordHash(hash);
  if (adopted !== undefined) return adopted;
  reportMissing(
    "password",
    "Its password hash has an unsupported format. The account is imported without a password: set a new one.",
  );
  return "";
}

function readToken(token: string | null, reportMissing: ReportMissing): string | null {
  if (token === null || token === "") return null;
  return isApiToken(token)
    ? token
    : reportMissing("api_token", "Its API token does not have the shape of an API token and is not imported.");
}

/** null: it cannot be read. Then the password must not be imported either: it alone must not be enough to sign in. */
function readTotp(totp: SourceTotp, reportMissing: ReportMissing): AdoptedUser["totp"] {
  const secret = readBase32(totp.secret);
  if (secret === undefined) {
    return reportMissing(
      "factor",
      "The secret of its authenticator app cannot be read. The account is imported without a password, because a password " +
        "alone must not be enough to sign in.",
    );
  }
  const lastStep = totp.lastStepAt === null ? 0 : totpStep(totp.lastStepAt * secondMs);
  return { secret, lastStep };
}

const base32Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const secretBytesMin = 10;
const secretBytesMax = 64;

/** RFC 4648, section 6, with or without padding. @returns undefined for other text, or for a secret of an unusual length. */
function readBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let bitCount = 0;
  for (const letter of text.trim().toUpperCase().replace(/=+$/, "")) {
    const value = base32Letters.indexOf(letter);
    if (value < 0 || bytes.length > secretBytesMax) return undefined;
    bits = ((bits << 5) | value) & 0xfff;
    bitCount += 5;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes.push((bits >> bitCount) & 0xff);
  }
  return bytes.length >= secretBytesMin && bytes.length <= secretBytesMax ? Buffer.from(bytes) : undefined;
}
