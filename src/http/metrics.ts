import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import { digest, equalDigests } from "../crypto/digests.ts";
import { sendJson } from "./headers.ts";

const metricsPath = "/metrics";

export type MetricsGate = ReturnType<typeof createMetricsGate>;

/** Decides who may read the metrics. Tokens are compared in constant time. */
export function createMetricsGate({ token }: NonNullable<Config["metrics"]>) {
  const expected = token === undefined ? undefined : digest(token);
  const hasToken = (authorization: string | undefined) => {
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    return expected !== undefined && given !== undefined && equalDigests(digest(given), expected);
  };
  return {
    /** @param authorization the header's value. */
    allows: (authorization: string | undefined): boolean => expected === undefined || hasToken(authorization),
    /**
     * Whether the request asks for the metrics with the right token. It is then exempt from throttling and from the check of the
     * host name. Requests with a wrong token, or where no token is needed, are throttled like all others.
     */
    isScrape: ({ url, headers }: IncomingMessage): boolean => url === metricsPath && hasToken(headers.authorization),
  };
}

interface MetricsDeps {
  readonly gate: MetricsGate;
  /** In Prometheus' text format. */
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

/** `GET /metrics`, registered only if metrics are enabled; otherwise the path is not found. */
export function registerMetrics(server: FastifyInstance, { gate, read }: MetricsDeps): void {
  const config = { access: "public", group: "internal", changesState: false } as const;
  server.get(metricsPath, { config }, async (request, reply) => {
    if (!gate.allows(request.raw.headers.authorization)) {
      reply.header("www-authenticate", "Bearer");
      return sendJson(reply, 401, { error: "This needs the metrics token." });
    }
    const { contentType, text } = await read();
    reply.header("content-type", contentType);
    return reply.send(text);
  });
}
