import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { checkOf, findIdentity } from "./key-check.ts";

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

/** The key of one file, whose identity is in the sealed list. */
export async function makeFileKey(): Promise<Pick<LinkKey, "identity" | "recipient">> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/**
 * @param fragment of a link, with or without its `#`.
 * @returns undefined: it is not an age identity. The checksum in it finds characters that were lost or changed.
 */
export async function readLinkKey(fragment: string): Promise<LinkKey | undefined> {
  const identity = findIdentity(fragment);
  if (identity === undefined) return undefined;
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
