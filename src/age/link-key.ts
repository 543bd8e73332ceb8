import { generateX25519Identity, identityToRecipient } from "age-encryption";

/** The key of an end-to-end push. It is only in the link, behind `#`, which browsers send to no server. */
export interface LinkKey {
  /** An age identity: `AGE-SECRET-KEY-1...`. */
  readonly identity: string;
  /** The age recipient to seal for: `age1...`. */
  readonly recipient: string;
  /** What the server keeps and shows, so that a wrong link is recognised before it costs a view. */
  readonly check: string;
}

export async function makeLinkKey(): Promise<LinkKey> {
  return await linkKeyOf(await generateX25519Identity());
}

const identityShape = /^AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}$/;

/**
 * @param fragment of a link, with or without its `#`.
 * @returns undefined: it is not an age identity. The checksum in it finds characters that were lost or changed.
 */
export async function readLinkKey(fragment: string): Promise<LinkKey | undefined> {
  const identity = fragment.replace(/^#/, "");
  if (!identityShape.test(identity)) return undefined;
  try {
    return await linkKeyOf(identity);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("Invalid checksum")) return undefined;
    throw error;
  }
}

async function linkKeyOf(identity: string): Promise<LinkKey> {
  return { identity, recipient: await identityToRecipient(identity), check: await checkOf(identity) };
}

const checkBytes = 16;

/**
 * Hexadecimal; the identity has 256 random bits, so its digest reveals nothing of it. Not the recipient: somebody who has that
 * can put another content in place of the sealed one.
 */
async function checkOf(identity: string): Promise<string> {
  const labelled = new TextEncoder().encode(`sealpush key check ${identity}`);
  const digest = await crypto.subtle.digest("SHA-256", labelled);
  return [...new Uint8Array(digest, 0, checkBytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
