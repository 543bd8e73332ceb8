/**
 * Each step of the cost doubles the work. A stored hash beyond it is never tried: one import of such hashes would let
 * everybody who knows their e-mail keep the server busy for minutes.
 */
const costMax = 15;
const costMin = 4;
const shape = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** Of the UTF-8 of a password; what stands behind them is not looked at. */
export const bcryptBytesMax = 72;

/** Of accounts from elsewhere; here they are only verified, and replaced by Argon2id at the next sign-in. */
export function isBcryptHash(stored: string): boolean {
  return shape.test(stored);
}

/** Whether a password can be verified against it at all: it is a hash, at a cost that is borne. */
export function isVerifiableBcrypt(stored: string): boolean {
  const cost = Number(shape.exec(stored)?.[1] ?? Number.NaN);
  return cost >= costMin && cost <= costMax;
}

/**
 * bcrypt reads the first 72 bytes of the UTF-8 of a password and no more. It runs on the event loop, in pieces that let
 * other work through. @returns false for a hash that costs too much or is none.
 */
export async function verifyBcrypt(stored: string, password: string): Promise<boolean> {
  if (!isVerifiableBcrypt(stored)) return false;
  const { compare } = await import("bcryptjs");
  return compare(password, stored);
}
