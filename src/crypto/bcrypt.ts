/**
 * Each step of the cost doubles the work. Hashes above this cost are never verified: importing one would let anybody who
 * knows the account's email address keep the server busy for minutes.
 */
const costMax = 15;
const costMin = 4;
const shape = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** Bytes of the UTF-8 of a password that bcrypt reads; the rest is ignored. */
export const bcryptBytesMax = 72;

/** Hashes of imported accounts. They are only verified, and replaced by Argon2id at the next sign-in. */
export function isBcryptHash(stored: string): boolean {
  return shape.test(stored);
}

/** Whether a password can be verified against it: it is a bcrypt hash, and its cost is accepted. */
export function isVerifiableBcrypt(stored: string): boolean {
  const cost = Number(shape.exec(stored)?.[1] ?? Number.NaN);
  return cost >= costMin && cost <= costMax;
}

/**
 * bcrypt reads only the first 72 bytes of the UTF-8 of a password. It runs on the event loop, in slices that let other work
 * through. @returns false for a hash that is invalid or costs too much.
 */
export async function verifyBcrypt(stored: string, password: string): Promise<boolean> {
  if (!isVerifiableBcrypt(stored)) return false;
  const { compare } = await import("bcryptjs");
  return compare(password, stored);
}
