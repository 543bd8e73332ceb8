import { HOTP, Secret, TOTP } from "otpauth";
import { secondMs } from "../base/clock.ts";
import { equalDigests } from "../crypto/digests.ts";
import { latinDigits } from "./latin-digits.ts";

/** What every authenticator app takes for granted (RFC 6238); an address that says otherwise is ignored by some. */
const algorithm = "SHA1";
const digits = 6;
const periodSeconds = 30;
/** RFC 4226 asks for as many bits as the hash has. */
export const totpSecretBytes = 20;

/** Unix time in steps of 30 seconds. */
export function totpStep(now: number): number {
  return Math.floor(now / (periodSeconds * secondMs));
}

/** @returns the six digits somebody typed, in whatever digits and with blanks; undefined: it cannot be a code. */
export function readTotpCode(typed: string): string | undefined {
  const code = latinDigits(typed).replace(/\s/g, "");
  return /^\d{6}$/.test(code) ? code : undefined;
}

/**
 * The step that a code belongs to: the current one, or the one before for clocks that are late and people who type
 * slowly. Both are tried in either case, so that the time taken does not tell which.
 */
export function matchingTotpStep(secret: Uint8Array, code: string, now: number): number | undefined {
  const given = Buffer.from(code, "latin1");
  const current = totpStep(now);
  const matching = [current, current - 1].filter((step) => equalDigests(Buffer.from(totpCode(secret, step)), given));
  return matching[0];
}

/** @param step see `totpStep`. */
export function totpCode(secret: Uint8Array, step: number): string {
  return HOTP.generate({ secret: secretOf(secret), algorithm, digits, counter: step });
}

/** What an authenticator app is told. @param secret `totpSecretBytes` bytes. */
export function describeTotp(
  secret: Uint8Array,
  { issuer, label }: { readonly issuer: string; readonly label: string },
): { readonly base32: string; readonly uri: string } {
  const totp = new TOTP({ issuer, label, algorithm, digits, period: periodSeconds, secret: secretOf(secret) });
  return { base32: totp.secret.base32, uri: totp.toString() };
}

function secretOf(bytes: Uint8Array): Secret {
  // A copy: the bytes may be a part of a larger buffer, which the library would take whole.
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}
