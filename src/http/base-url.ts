import type { IncomingMessage } from "node:http";
import { AppError } from "../base/errors.ts";
import type { Client } from "./client.ts";

const hostLengthMax = 261;
/** A registered name, an IPv4 address or a bracketed IPv6 address, with an optional port (RFC 9110, 7.2). */
const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/;
const originsMax = 256;
const defaultPort = { http: /:80$/, https: /:443$/ };

interface BaseUrlSettings {
  /** The origin of every link; undefined: taken from the request. */
  readonly overrideBaseUrl: string | undefined;
  /** Lower-case host names; `.suffix` stands for a domain and its subdomains; empty: any host. */
  readonly allowedHosts: readonly string[];
}

/**
 * @returns the function that returns the origin of links for a client, without a trailing slash. It throws AppError
 * invalid_request when Host is missing, malformed or not allowed: a link must never point to a forged host.
 */
export function createBaseUrls(settings: BaseUrlSettings): (client: Client) => string {
  const ownHost = settings.overrideBaseUrl === undefined ? [] : [new URL(settings.overrideBaseUrl).hostname];
  const allowed = settings.allowedHosts.length === 0 ? [] : [...settings.allowedHosts, ...ownHost];
  const known = { http: new Map<string, string>(), https: new Map<string, string>() };

  return (client) => {
    const scheme = client.https ? "https" : "http";
    const cached = known[scheme].get(client.host);
    if (cached !== undefined) return cached;
    const host = checkedHost(client.host, allowed);
    const origin = settings.overrideBaseUrl ?? `${scheme}://${host.replace(defaultPort[scheme], "")}`;
    if (known[scheme].size >= originsMax) known[scheme].clear();
    known[scheme].set(client.host, origin);
    return origin;
  };
}

function checkedHost(text: string, allowed: readonly string[]): string {
  const host = text.toLowerCase();
  if (host.length > hostLengthMax || !hostPattern.test(host)) {
    throw new AppError("invalid_request", "The Host header is missing or malformed.");
  }
  const name = host.replace(/:\d+$/, "").replace(/\.$/, "");
  if (allowed.length > 0 && !allowed.some((entry) => isHostAllowedBy(name, entry.toLowerCase()))) {
    throw new AppError("invalid_request", "This server does not answer for that host.");
  }
  return host;
}

function isHostAllowedBy(name: string, entry: string): boolean {
  return entry.startsWith(".") ? name === entry.slice(1) || name.endsWith(entry) : name === entry;
}

/**
 * The HTTPS address to redirect a plain HTTP request to, if HTTPS is required; undefined: answer the request.
 *
 * A request whose untrusted proxy claims HTTPS is answered as plain HTTP: a redirect would never end.
 * @param baseUrl the checked origin of this request, so that a redirect never leads to a forged host.
 */
export function httpsAddressFor(request: IncomingMessage, client: Client, baseUrl: string): string | undefined {
  if (client.https || claimsHttps(request)) return undefined;
  const path = request.url?.startsWith("/") === true ? request.url : "/";
  // HTTP and HTTPS use different ports.
  const origin = baseUrl.startsWith("https:")
    ? baseUrl
    : `https://${baseUrl.slice("http://".length).replace(/:\d+$/, "")}`;
  return `${origin}${path}`;
}

function claimsHttps({ headers }: IncomingMessage): boolean {
  const claimed = String(headers["x-forwarded-proto"] ?? "");
  return (
    claimed
      .slice(claimed.lastIndexOf(",") + 1)
      .trim()
      .toLowerCase() === "https"
  );
}
