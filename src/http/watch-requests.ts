import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type AnsweredRequest, type RequestWatch, unmatchedRoute } from "../telemetry/answered-request.ts";
import { readTraceParent } from "./trace-parent.ts";

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Watchdogs, scrapers and what pages load with them: counted, but no line and no span each. */
const quietRoutes: ReadonlySet<string> = new Set(["/up", "/ready", "/metrics", "/assets/:name"]);

/** nginx's number for it: the connection ended before the whole answer was sent. */
const cutOff = 499;

type Watch = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Tells `watch` of each request once its answer has ended, however it ended. To be called before any other hook is
 * added, so that what those refuse is seen too. Where nothing is watched there is no hook.
 * @returns the same for requests that never reach a hook.
 */
export function watchRequests(server: FastifyInstance, watch: RequestWatch, monotonicMs: () => number): Watch {
  const { count, trace, log } = watch;
  if (count === undefined && trace === undefined && log === undefined) return () => undefined;

  const tell = (request: FastifyRequest, reply: FastifyReply, startedAt: number) => {
    const answered = answeredRequest(request, reply, monotonicMs() - startedAt, trace !== undefined);
    count?.(answered);
    if (quietRoutes.has(answered.route)) return;
    const traceId = trace?.(answered);
    log?.(answered, traceId);
  };
  const watchOne: Watch = (request, reply) => {
    const startedAt = monotonicMs();
    reply.raw.once("close", () => tell(request, reply, startedAt));
  };
  server.addHook("onRequest", (request, reply, done) => {
    watchOne(request, reply);
    done();
  });
  return watchOne;
}

function answeredRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  durationMs: number,
  traced: boolean,
): AnsweredRequest {
  const { client, raw } = request;
  return {
    requestId: request.id,
    method: methods.has(request.method) ? request.method : "other",
    route: request.routeOptions.url ?? unmatchedRoute,
    status: reply.raw.writableFinished ? reply.raw.statusCode : cutOff,
    durationMs,
    https: client.https,
    address: client.address,
    caller: traced && client.fromTrustedProxy ? readTraceParent(raw.headers.traceparent) : undefined,
  };
}
