import { HOTP, Secret, TOTP } from "otpauth";
import { minuteMs, secondMs } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { equalDigests } from "../../crypto/digests.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import { latinDigits } from "../text.ts";

/** The defaults of RFC 6238: some authenticator apps ignore other values in the `otpauth:` URI. */
const algorithm = "SHA1";
const digits = 6;
const periodSeconds = 30;
/** RFC 4226 recommends the length of the hash. */
export const totpSecretBytes = 20;

/** Unix time in steps of 30 seconds. */
export function totpStep(now: number): number {
  return Math.floor(now / (periodSeconds * secondMs));
}

/** @returns six Latin digits without spaces; undefined: the text cannot be a code. */
export function readTotpCode(typed: string): string | undefined {
  const code = latinDigits(typed).replace(/\s/g, "");
  return /^\d{6}$/.test(code) ? code : undefined;
}

/**
 * The step of a code: the current one, or the previous one for late clocks and slow typing. Both are always compared, so
 * that the time taken does not reveal which one matched.
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

/** The secret in the forms that authenticator apps accept. @param secret `totpSecretBytes` bytes. */
export function describeTotp(
  secret: Uint8Array,
  { issuer, label }: { readonly issuer: string; readonly label: string },
): { readonly base32: string; readonly uri: string } {
  const totp = new TOTP({ issuer, label, algorithm, digits, period: periodSeconds, secret: secretOf(secret) });
  return { base32: totp.secret.base32, uri: totp.toString() };
}

const secretBytesMin = 10;
const secretBytesMax = 64;

/** The secret of another installation, in base32 with or without padding. @returns undefined for other text, or an unusual length. */
export function readTotpSecret(text: string): Buffer | undefined {
  const secret = base32Shape.exec(text.trim())?.[0];
  const bytes = secret === undefined ? Buffer.alloc(0) : Buffer.from(Secret.fromBase32(secret).bytes);
  return bytes.length >= secretBytesMin && bytes.length <= secretBytesMax ? bytes : undefined;
}

/** The length bounds the work on a text that is no secret. */
const base32Shape = /^[A-Z2-7]{1,128}=*$/i;

function secretOf(bytes: Uint8Array): Secret {
  // A copy: the bytes may be part of a larger buffer, and the library would use all of it.
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}

/** Enough time to read the page and to install an app. */
const lifetimeMs = 30 * minuteMs;
const timeBytes = 8;
const setUpLengthMax = 512;

/** A new secret that is shown to the user. */
export interface TotpOffer {
  /** The secret in base32, to be typed. */
  readonly base32: string;
  /** The secret as an `otpauth://` URI, for a QR code. */
  readonly uri: string;
  /** The secret sealed for the session. The browser returns it with the first code: the server stores nothing. */
  readonly setUp: string;
}

export type TotpSetUp = ReturnType<typeof createTotpSetUp>;

export function createTotpSetUp(deps: { readonly keyring: () => Keyring; readonly random: Random }) {
  function make(sessionId: number, now: number) {
    const secret = deps.random.bytes(totpSecretBytes);
    const time = Buffer.alloc(timeBytes);
    time.writeBigUInt64BE(BigInt(now));
    const sealed = deps.keyring().sealMessage("authenticator set-up", [sessionId], Buffer.concat([time, secret]));
    return { secret, setUp: sealed.toString("base64url") };
  }

  function open(setUp: string, sessionId: number, now: number): Buffer | undefined {
    if (setUp.length > setUpLengthMax) return undefined;
    const content = deps.keyring().openMessage("authenticator set-up", [sessionId], Buffer.from(setUp, "base64url"));
    if (content?.length !== timeBytes + totpSecretBytes) return undefined;
    const madeAt = Number(content.readBigUInt64BE());
    return now >= madeAt && now < madeAt + lifetimeMs ? content.subarray(timeBytes) : undefined;
  }

  return {
    /** @returns the secret; undefined: made by another server, for another session, or expired. */
    open,
    /** @param before `setUp` of an offer to show again, after a wrong code. If it is not valid, a new secret is made. */
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
