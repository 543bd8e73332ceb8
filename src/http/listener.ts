import type { Config } from "../config/config.ts";
import { createBaseUrls } from "./base-url.ts";
import type { Client } from "./client.ts";

/**
 * The people who need a route. Each route declares one group:
 * - `recipient`: people who have a link, to open or delete the push;
 * - `internal`: everybody else.
 */
export type RouteGroup = "recipient" | "internal";

/** What one port of this process serves. */
export interface Listener {
  /** To this listener, routes of other groups do not exist. */
  readonly groups: ReadonlySet<RouteGroup>;
  /** Whether all links of its answers are HTTPS, so that browsers may insist on it. */
  readonly overHttps: boolean;
  /** See `createBaseUrls`. */
  readonly baseUrlOf: (client: Client) => string;
}

/** A complete server, and one that serves only recipients. */
export function createListeners({ overrideBaseUrl, allowedHosts, gateway }: Config) {
  const listener = (groups: readonly RouteGroup[], origin: string | undefined): Listener => ({
    groups: new Set(groups),
    overHttps: origin?.startsWith("https:") === true,
    baseUrlOf: createBaseUrls({ overrideBaseUrl: origin, allowedHosts }),
  });
  return {
    complete: listener(["recipient", "internal"], overrideBaseUrl),
    gateway: listener(["recipient"], gateway.url ?? overrideBaseUrl),
  };
}
