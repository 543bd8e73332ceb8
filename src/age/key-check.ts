const identityShape = /^AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}$/;

/**
 * @param fragment of a link, with or without its `#`.
 * @returns the age identity in it, whose checksum has not been verified; undefined: there is none.
 */
export function findIdentity(fragment: string): string | undefined {
  const identity = fragment.replace(/^#/, "");
  return identityShape.test(identity) ? identity : undefined;
}

const checkBytes = 16;

/**
 * Hexadecimal; the identity has 256 random bits, so its digest reveals nothing of it. Not the recipient: somebody who has that
 * can put another content in place of the sealed one.
 */
export async function checkOf(identity: string): Promise<string> {
  return hexOf(await digestOf("key check", identity), checkBytes);
}

const proofBytes = 32;

/**
 * Proves who made a request without an account; hexadecimal. It reveals nothing of the identity, and the check, which is no
 * secret, nothing of it.
 */
export async function ownerProofOf(identity: string): Promise<string> {
  return hexOf(await digestOf("request owner", identity), proofBytes);
}

async function digestOf(purpose: string, identity: string): Promise<ArrayBuffer> {
  return await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`sealpush ${purpose} ${identity}`));
}

function hexOf(digest: ArrayBuffer, length: number): string {
  return [...new Uint8Array(digest, 0, length)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
