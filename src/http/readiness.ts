import type { FastifyInstance, FastifyReply } from "fastify";
import { secondMs } from "../base/clock.ts";
import { unavailable, unreachable } from "../base/errors.ts";
import { withinMs } from "../base/within.ts";
import { sendJson } from "./headers.ts";

type ReadinessState =
  | { readonly state: "ready" }
  | { readonly state: "draining" }
  /** `cause`: the database's error, if it threw one. */
  | { readonly state: "database_unavailable"; readonly cause?: unknown };

interface ReadinessDeps {
  /** Whether a read of the database succeeds; it may be slow, and throw. */
  readonly canServe: () => Promise<boolean>;
  readonly draining: () => boolean;
  readonly monotonicMs: () => number;
}

export const answerMsMax = 2 * secondMs;
/** Strangers may send probes, too, and must not load the database: all probes within this time get the same answer. */
const cachedMs = secondMs;

export type Readiness = ReturnType<typeof createReadiness>;

/** Whether this process can serve requests. At most one read of the database runs at a time. */
export function createReadiness({ canServe, draining, monotonicMs }: ReadinessDeps) {
  let pending: Promise<ReadinessState> | undefined;
  let cached: { readonly answer: ReadinessState; readonly at: number } | undefined;

  async function ask(): Promise<ReadinessState> {
    const answer = await databaseState(canServe);
    cached = { answer, at: monotonicMs() };
    pending = undefined;
    return answer;
  }

  return {
    async check(): Promise<ReadinessState> {
      if (draining()) return { state: "draining" };
      if (pending === undefined && cached !== undefined && monotonicMs() - cached.at < cachedMs) return cached.answer;
      pending ??= ask();
      return await withinMs(answerMsMax, pending, () => ({ state: "database_unavailable" }) as const);
    },
  };
}

async function databaseState(canServe: ReadinessDeps["canServe"]): Promise<ReadinessState> {
  try {
    return { state: (await canServe()) ? "ready" : "database_unavailable" };
  } catch (cause) {
    return { state: "database_unavailable", cause };
  }
}

const retryAfterSeconds = 5;

/**
 * `GET /up`, the liveness probe: 200 while the process answers at all. `GET /ready`, the readiness probe: 200 when this
 * process can serve requests, 503 when a load balancer should use another process.
 */
export function registerProbes(server: FastifyInstance, readiness: Readiness): void {
  const config = { access: "public", changesState: false } as const;
  server.get("/up", { config: { ...config, group: "recipient" } }, (_request, reply) => {
    sendJson(reply, 200, { status: "up" });
  });
  server.get("/ready", { config: { ...config, group: "internal" } }, async (_request, reply): Promise<FastifyReply> => {
    const readinessState = await readiness.check();
    switch (readinessState.state) {
      case "ready":
        return sendJson(reply, 200, { status: "ready" });
      case "draining":
        // An expected state: throwing an error would log it.
        reply.header("retry-after", String(retryAfterSeconds));
        return sendJson(reply, 503, { error: "The server is stopping." });
      case "database_unavailable":
        throw unavailable("The database does not answer.", retryAfterSeconds, readinessState.cause);
      default:
        return unreachable(readinessState);
    }
  });
}
