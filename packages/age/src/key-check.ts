/** Chats and mail programs take the full stop, bracket or quotation mark after a link into it. */
const afterLink = "(?:%[0-9A-F]{2}|[^A-Za-z0-9_-])*$";

const fragmentShape = new RegExp(
  `^#?(AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58})(?:\\.([A-Za-z0-9_-]{1,64}))?${afterLink}`,
);

/** What the link of an end-to-end push has behind `#`. */
export interface KeyFragment {
  /** An age identity, whose checksum has not been verified. */
  readonly identity: string;
  /** The url_token of the request that the push answers; null: it is no answer. */
  readonly request: string | null;
}

/** @param fragment of a link, with or without its `#`. @returns undefined: there is no identity in it. */
export function readFragment(fragment: string): KeyFragment | undefined {
  const [, identity, request = null] = fragmentShape.exec(fragment) ?? [];
  return identity === undefined ? undefined : { identity, request };
}

/** @returns what follows `#`. */
export function writeFragment({ identity, request }: KeyFragment): string {
  return request === null ? identity : `${identity}.${request}`;
}

/**
 * @param fragment of a link that is not the one of an answer, with or without its `#`.
 * @returns the age identity in it, whose checksum has not been verified; undefined: there is none.
 */
export function findIdentity(fragment: string): string | undefined {
  const found = readFragment(fragment);
  return found?.request === null ? found.identity : undefined;
}

const checkBytes = 16;

/**
 * Hexadecimal; the identity has 256 random bits, so its digest reveals nothing of it. Not the recipient: somebody who has that
 * can put another content in place of the sealed one.
 */
export async function checkOf(identity: string): Promise<string> {
  return hexOf(await digestOf("key check", identity), checkBytes);
}

const fingerprintBytes = 16;

const fingerprintShape = new RegExp(`^#?([0-9a-f]{32})${afterLink}`);

/** @param fragment of a request's link, with or without its `#`. @returns undefined: there is no fingerprint in it. */
export function readFingerprint(fragment: string): string | undefined {
  return fingerprintShape.exec(fragment)?.[1];
}

/**
 * In the link of a request, behind `#`: those who answer compare it with the recipient that the server sends. Hexadecimal, of
 * an age recipient.
 */
export async function fingerprintOf(recipient: string): Promise<string> {
  return hexOf(await digestOf("request recipient", recipient), fingerprintBytes);
}

const proofBytes = 32;

/**
 * Proves who made a request without an account; hexadecimal. It reveals nothing of the identity, and the check, which is no
 * secret, nothing of it.
 */
export async function ownerProofOf(identity: string): Promise<string> {
  return hexOf(await digestOf("request owner", identity), proofBytes);
}

async function digestOf(purpose: string, key: string): Promise<ArrayBuffer> {
  return await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`sealpush ${purpose} ${key}`));
}

function hexOf(digest: ArrayBuffer, length: number): string {
  return [...new Uint8Array(digest, 0, length)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
