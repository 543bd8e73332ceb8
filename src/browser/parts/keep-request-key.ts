import { fingerprintOf } from "@sealpush/age/key-check";
import type { LinkKey } from "@sealpush/age/link-key";
import { importForUse } from "@sealpush/age/stored-key";
import { storeKey } from "./stored-keys.ts";

/**
 * @param request its url_token; null: it was not made yet.
 * @returns whether this browser keeps the key of a request from now on.
 */
export async function keepRequestKey(
  { identity, recipient, check }: LinkKey,
  request: string | null,
): Promise<boolean> {
  let key: CryptoKey;
  try {
    key = await importForUse(identity);
  } catch (error) {
    // The browser has no X25519: the copy that somebody carries opens the answers.
    if (error instanceof DOMException && error.name === "NotSupportedError") return false;
    throw error;
  }
  return await storeKey({ check, request, fingerprint: await fingerprintOf(recipient), key });
}
