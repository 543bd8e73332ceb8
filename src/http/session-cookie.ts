import type { IncomingMessage } from "node:http";
import type { Config } from "../config/config.ts";
import type { Client } from "./client.ts";

const tokenPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** One cookie that holds a random token. */
export interface TokenCookies {
  /** undefined: no cookie, or one that cannot be ours. */
  find(request: IncomingMessage, client: Client): string | undefined;
  /** A Set-Cookie value. */
  made(token: string, client: Client): string;
  /** A Set-Cookie value that removes the cookie. */
  ended(client: Client): string;
}

export type SessionCookies = TokenCookies;

/** They end with the browser session; the server's own timeouts end them sooner. */
export function createSessionCookies(setting: Config["secureCookies"]): SessionCookies {
  return createTokenCookies(setting, { name: "sealpush_session" });
}

/**
 * `__Host-` (RFC 6265bis): set over https, for this host alone, so that no sibling domain can plant one. HttpOnly: no
 * script reads it. SameSite=Lax: another site's form does not send it.
 */
export function createTokenCookies(
  setting: Config["secureCookies"],
  { name, seconds }: { readonly name: string; readonly seconds?: number },
): TokenCookies {
  const isSecure = (client: Client) => (setting === "auto" ? client.https : setting);
  const attributes = (client: Client) => `Path=/; HttpOnly; SameSite=Lax${isSecure(client) ? "; Secure" : ""}`;
  const nameFor = (client: Client) => (isSecure(client) ? `__Host-${name}` : name);
  const lasting = seconds === undefined ? "" : `Max-Age=${seconds}; `;
  return {
    find: (request, client) => findCookie(request.headers.cookie, nameFor(client)),
    made: (token, client) => `${nameFor(client)}=${token}; ${lasting}${attributes(client)}`,
    ended: (client) => `${nameFor(client)}=; Max-Age=0; ${attributes(client)}`,
  };
}

function findCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    return tokenPattern.test(value) ? value : undefined;
  }
  return undefined;
}
