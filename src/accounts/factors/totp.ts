import { HOTP, Secret, TOTP } from "otpauth";
import { minuteMs, secondMs } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { equalDigests } from "../../crypto/digests.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import { latinDigits } from "../text.ts";

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

/** Installing an app and reading the page takes a while. */
const lifetimeMs = 30 * minuteMs;
const timeBytes = 8;
const setUpLengthMax = 512;

/** A secret that is shown to be set up. */
export interface TotpOffer {
  /** The secret for typing, in base32. */
  readonly base32: string;
  /** The same with all an app wants to know (`otpauth://`), for a QR code. */
  readonly uri: string;
  /** Comes back with the first code. The secret again, sealed for the session: the server keeps nothing of the offer. */
  readonly setUp: string;
}

export type TotpSetUp = ReturnType<typeof createTotpSetUp>;

export function createTotpSetUp(deps: { readonly keyring: () => Keyring; readonly random: Random }) {
  const contextOf = (sessionId: number) => `session:${sessionId}:totp-set-up`;

  function make(sessionId: number, now: number) {
    const secret = deps.random.bytes(totpSecretBytes);
    const time = Buffer.alloc(timeBytes);
    time.writeBigUInt64BE(BigInt(now));
    const sealed = deps.keyring().seal(contextOf(sessionId), Buffer.concat([time, secret]));
    return { secret, setUp: sealed.toString("base64url") };
  }

  function open(setUp: string, sessionId: number, now: number): Buffer | undefined {
    if (setUp.length > setUpLengthMax) return undefined;
    const content = deps.keyring().open(contextOf(sessionId), Buffer.from(setUp, "base64url"));
    if (content?.length !== timeBytes + totpSecretBytes) return undefined;
    const madeAt = Number(content.readBigUInt64BE());
    return now >= madeAt && now < madeAt + lifetimeMs ? content.subarray(timeBytes) : undefined;
  }

  return {
    /** @returns the secret; undefined: not ours, of another session, or run out. */
    open,
    /** @param before of an offer to show again, after a slip; one that `open` refuses gives way to a new secret. */
    offer(
      sessionId: number,
      names: { readonly issuer: string; readonly label: string },
      now: number,
      before: string,
    ): TotpOffer {
      const known = open(before, sessionId, now);
      const { secret, setUp } = known === undefined ? make(sessionId, now) : { secret: known, setUp: before };
      return { ...describeTotp(secret, names), setUp };
    },
  };
}
