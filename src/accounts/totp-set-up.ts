import { minuteMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { describeTotp, totpSecretBytes } from "./totp.ts";

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

export interface TotpSetUp {
  /** @param before of an offer to show again, after a slip; one that `open` refuses gives way to a new secret. */
  offer(
    sessionId: number,
    names: { readonly issuer: string; readonly label: string },
    now: number,
    before: string,
  ): TotpOffer;
  /** @returns the secret; undefined: not ours, of another session, or run out. */
  open(setUp: string, sessionId: number, now: number): Buffer | undefined;
}

export function createTotpSetUp(deps: { readonly keyring: () => Keyring; readonly random: Random }): TotpSetUp {
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
    open,
    offer(sessionId, names, now, before) {
      const known = open(before, sessionId, now);
      const { secret, setUp } = known === undefined ? make(sessionId, now) : { secret: known, setUp: before };
      return { ...describeTotp(secret, names), setUp };
    },
  };
}
