import { type AdoptedUser, isAdoptableHash } from "../accounts/admin/adopt-user.ts";
import { keptCodeKey } from "../accounts/factors/backup-codes.ts";
import { totpStep } from "../accounts/factors/totp.ts";
import { isApiToken } from "../accounts/tokens/api-tokens.ts";
import { secondMs } from "../base/clock.ts";
import { normalizeEmail } from "../base/email.ts";
import { findMessages } from "../i18n/i18n.ts";
import type { Lack, SourceTotp, SourceUser, UserPart } from "./source.ts";

export type ReadUser =
  | { readonly outcome: "read"; readonly user: AdoptedUser; readonly lacks: readonly Lack<UserPart>[] }
  | { readonly outcome: "refused"; readonly reason: string };

/**
 * @param mailsConfirm the other installation let nobody in who had not confirmed the e-mail. Where it did not, no such
 * confirmation was ever asked for, and missing it must keep nobody out here either.
 */
export function readUser(source: SourceUser, mailsConfirm: boolean): ReadUser {
  const email = normalizeEmail(source.email);
  if (email === undefined) {
    return { outcome: "refused", reason: "Its e-mail address is none that an account here can have." };
  }
  const lacks: Lack<UserPart>[] = [];
  const tell: Tell = (part, reason) => {
    lacks.push({ part, reason });
    return null;
  };
  const totp = source.totp === null ? null : readTotp(source.totp, tell);
  const hasLostFactor = source.totp !== null && totp === null;
  const user: AdoptedUser = {
    email,
    passwordHash: hasLostFactor ? "" : readHash(source.passwordHash, tell),
    admin: source.admin,
    language: findMessages(source.language ?? undefined)?.locale.tag ?? null,
    confirmedAt: source.confirmedAt ?? (mailsConfirm ? null : source.createdAt),
    ...{ createdAt: source.createdAt, updatedAt: source.updatedAt, lastSignedInAt: source.lastSignedInAt },
    apiToken: readToken(source.apiToken, tell),
    totp,
  };
  return { outcome: "read", user, lacks };
}

type Tell = (part: UserPart, reason: string) => null;

function readHash(hash: string, tell: Tell): string {
  if (hash === "" || isAdoptableHash(hash)) return hash;
  tell(
    "password",
    "Its password is kept in a form that is not taken here: it comes without one, and a new one has to be set.",
  );
  return "";
}

function readToken(token: string | null, tell: Tell): string | null {
  if (token === null || token === "") return null;
  return isApiToken(token)
    ? token
    : tell("api_token", "Its API token has a shape that no token has: it does not come along.");
}

/** null: it cannot be read. The password alone must let nobody in then. */
function readTotp(totp: SourceTotp, tell: Tell): AdoptedUser["totp"] {
  const secret = readBase32(totp.secret);
  if (secret === undefined) {
    return tell(
      "factor",
      "The secret of its authenticator app cannot be read: it comes without a password, so that a password alone lets " +
        "nobody in.",
    );
  }
  const lastStep = totp.lastStepAt === null ? 0 : totpStep(totp.lastStepAt * secondMs);
  if (totp.backupCodes === null) return { secret, lastStep, backupCodes: null };
  const { key, messagePrefix, digests } = totp.backupCodes;
  const readable = digests
    .filter((digest) => /^[0-9a-f]{64}$/i.test(digest))
    .map((digest) => Buffer.from(digest, "hex"));
  if (readable.length < digests.length) {
    tell("backup_codes", "Some of its backup codes are kept in a form that cannot be checked.");
  }
  return { secret, lastStep, backupCodes: { key: keptCodeKey(key), messagePrefix, digests: readable } };
}

const base32Emails = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const secretBytesMin = 10;
const secretBytesMax = 64;

/** RFC 4648, section 6, with or without padding. @returns undefined when it is none, or no secret of a usual length. */
function readBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let bitCount = 0;
  for (const letter of text.trim().toUpperCase().replace(/=+$/, "")) {
    const value = base32Emails.indexOf(letter);
    if (value < 0 || bytes.length > secretBytesMax) return undefined;
    bits = ((bits << 5) | value) & 0xfff;
    bitCount += 5;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes.push((bits >> bitCount) & 0xff);
  }
  return bytes.length >= secretBytesMin && bytes.length <= secretBytesMax ? Buffer.from(bytes) : undefined;
}
