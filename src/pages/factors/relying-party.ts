import { isIP } from "node:net";
import type { RelyingParty } from "../../accounts/accounts.ts";
import { productName } from "../../branding/branding.ts";

/**
 * @param baseUrl the origin under which this server is reached.
 * @returns undefined: browsers give no passkey there. They want a name, not an address, and a connection that nobody
 * reads, or one that stays within the machine.
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  if (isIP(hostname) !== 0 || hostname.startsWith("[") || (protocol !== "https:" && !isLocal)) return undefined;
  return { id: hostname, origin, name: productName };
}
