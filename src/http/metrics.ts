import type { FastifyInstance } from "fastify";
import { sendJson } from "./headers.ts";
import { type MetricsGate, metricsPath } from "./metrics-gate.ts";

export interface MetricsDeps {
  readonly gate: MetricsGate;
  /** In Prometheus' text format. */
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

/** `GET /metrics`, registered only where metrics are on: elsewhere the address is as unknown as any other. */
export function registerMetrics(server: FastifyInstance, { gate, read }: MetricsDeps): void {
  const config = { access: "public", changesState: false } as const;
  server.get(metricsPath, { config }, async (request, reply) => {
    if (!gate.opensFor(request.raw.headers.authorization)) {
      reply.header("www-authenticate", "Bearer");
      return sendJson(reply, 401, { error: "This needs the metrics token." });
    }
    const { contentType, text } = await read();
    reply.header("content-type", contentType);
    return reply.send(text);
  });
}
