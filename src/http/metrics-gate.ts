import type { IncomingMessage } from "node:http";
import type { Config } from "../config/config.ts";
import { digest, equalDigests } from "../crypto/digests.ts";

export const metricsPath = "/metrics";

/** Who may read the metrics. */
export interface MetricsGate {
  /** Compares in constant time. @param authorization the header as it came. */
  opensFor(authorization: string | undefined): boolean;
  /**
   * Whether this asks for the metrics with the token: not to be counted, nor refused under any host name. Guesses are
   * counted like all else, and so is who needs no token.
   */
  isScrape(request: IncomingMessage): boolean;
}

export function createMetricsGate({ token }: NonNullable<Config["metrics"]>): MetricsGate {
  const wanted = token === undefined ? undefined : digest(token);
  const hasToken = (authorization: string | undefined) => {
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    return wanted !== undefined && given !== undefined && equalDigests(digest(given), wanted);
  };
  return {
    opensFor: (authorization) => wanted === undefined || hasToken(authorization),
    isScrape: ({ url, headers }) => url === metricsPath && hasToken(headers.authorization),
  };
}
