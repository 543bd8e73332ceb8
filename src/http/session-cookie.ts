import type { IncomingMessage } from "node:http";
import type { Config } from "../config/config.ts";
import type { Client } from "./client.ts";

const tokenPattern = /^[A-Za-z0-9_-]{1,128}$/;

export type TokenCookies = ReturnType<typeof createTokenCookies>;
export type SessionCookies = TokenCookies;

export function createSessionCookies(
  config: Pick<Config, "secureCookies" | "strictSessions" | "singleSignOn">,
): SessionCookies {
  const { secureCookies, strictSessions, singleSignOn } = config;
  // The provider's redirect begins on another site, and leads to a page that needs the new session.
  const sameSite = strictSessions && singleSignOn === undefined ? "Strict" : "Lax";
  return createTokenCookies(secureCookies, { name: "sealpush_session", sameSite });
}

/**
 * Binds the forms of `page_entry` to the browser that got them; see `isFromOwnSite`. Browsers that send `Sec-Fetch-Site` never get it.
 */
export function createEntryCookies({ secureCookies }: Pick<Config, "secureCookies">): TokenCookies {
  return createTokenCookies(secureCookies, { name: "sealpush_entry" });
}

/**
 * A cookie with a random token. `__Host-` (RFC 6265bis): set over https for this host alone, so that no sibling domain can
 * plant one. HttpOnly: no script reads it. SameSite=Lax: another site's form does not send it.
 */
export function createTokenCookies(
  setting: Config["secureCookies"],
  cookie: { readonly name: string; readonly seconds?: number; readonly sameSite?: "Lax" | "Strict" },
) {
  const { name, seconds: lifetime, sameSite = "Lax" } = cookie;
  const isSecure = (client: Client) => (setting === "auto" ? client.https : setting);
  const attributes = (client: Client) => `Path=/; HttpOnly; SameSite=${sameSite}${isSecure(client) ? "; Secure" : ""}`;
  const nameFor = (client: Client) => (isSecure(client) ? `__Host-${name}` : name);
  return {
    /** undefined: no cookie, or one that this server cannot have set. */
    find: (request: IncomingMessage, client: Client): string | undefined =>
      findCookie(request.headers.cookie, nameFor(client)),
    /** The Set-Cookie value that sets the token. Without a lifetime, the browser removes it when it closes. */
    made: (token: string, client: Client, seconds = lifetime): string => {
      const maxAge = seconds === undefined ? "" : `Max-Age=${seconds}; `;
      return `${nameFor(client)}=${token}; ${maxAge}${attributes(client)}`;
    },
    /** The Set-Cookie value that removes the cookie. */
    ended: (client: Client): string => `${nameFor(client)}=; Max-Age=0; ${attributes(client)}`,
  };
}

/** @returns undefined for a value that no cookie of ours has. */
export function findCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    return tokenPattern.test(value) ? value : undefined;
  }
  return undefined;
}
