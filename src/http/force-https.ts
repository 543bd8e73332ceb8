import type { IncomingMessage } from "node:http";
import type { Client } from "./client.ts";

/**
 * Where a request goes that came by plain HTTP, when HTTPS is asked of all; undefined: it may stay.
 *
 * A proxy that is not trusted and says that it speaks HTTPS is not believed, but sending its clients back to where they
 * come from would never end. They get their answer, as one by plain HTTP.
 * @param baseUrl the checked origin of this request: a redirect never leads to a host that the requester made up.
 */
export function httpsAddressFor(request: IncomingMessage, client: Client, baseUrl: string): string | undefined {
  if (client.https || claimsHttps(request)) return undefined;
  const path = request.url?.startsWith("/") === true ? request.url : "/";
  // The port of plain HTTP is not that of HTTPS.
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
