import type { IncomingMessage } from "node:http";
import type { Client } from "./client.ts";

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
