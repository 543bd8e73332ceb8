import { isIP } from "node:net";

function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

/** A name that a public certificate can vouch for: no address, nor a name of this machine. */
function isName(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 && hostname !== "localhost" && !hostname.endsWith(".localhost");
}

/**
 * Whether an address that a provider's answer names may be asked, or a browser be sent there (threat: answers that turn
 * the server against its own network). The issuer's own host is the operator's word. Any other must be a name under
 * https: whatever machine the name leads to, also one of the inner network, has to hold its certificate. Only the parts
 * of a provider on this machine, which is for trying things out, may speak plainly and on ports of their own.
 */
export function isProviderTarget(target: URL, issuer: URL): boolean {
  if (target.username !== "" || target.password !== "") return false;
  if (target.origin === issuer.origin) return true;
  if (isThisMachine(issuer.hostname) && isThisMachine(target.hostname)) {
    return target.protocol === "https:" || target.protocol === "http:";
  }
  return target.protocol === "https:" && (target.hostname === issuer.hostname || isName(target.hostname));
}
