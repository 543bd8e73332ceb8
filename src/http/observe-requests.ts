import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type AnsweredRequest,
  type RequestWatch,
  type TraceParent,
  unmatchedRoute,
} from "../telemetry/answered-request.ts";

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Probes, scrapes and page assets: counted, but without a log line or span. */
const quietRoutes: ReadonlySet<string> = new Set(["/up", "/ready", "/metrics", "/assets/:name"]);

/** nginx's status: the connection ended before the whole answer was sent. */
const statusCutOff = 499;

type Observe = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * When an answer has ended, for whatever reason: releases the memory that is held for its request and reports it to `watch`.
 * Call it before any other hook is added, so that requests refused by those hooks are reported, too.
 * @returns the function that observes a request that reaches no hook.
 */
export function observeRequests(
  server: FastifyInstance,
  listeners: readonly HttpServer[],
  watch: RequestWatch,
  monotonicMs: () => number,
): Observe {
  const { count, trace, log } = watch;
  const isWatched = count !== undefined || trace !== undefined || log !== undefined;
  for (const listener of listeners) listener.prependListener("request", closeWithConnection);

  const onEnded = (request: FastifyRequest, reply: FastifyReply, startedAt: number) => {
    request.bodyHold?.release();
    request.answerHold?.shrink(0);
    if (!isWatched) return;
    const answered = answeredRequest(request, reply, monotonicMs() - startedAt, trace !== undefined);
    count?.(answered);
    if (quietRoutes.has(answered.route)) return;
    const traceId = trace?.(answered);
    log?.(answered, traceId);
  };
  const observe: Observe = (request, reply) => {
    const startedAt = monotonicMs();
    reply.raw.once("close", () => onEnded(request, reply, startedAt));
  };
  server.addHook("onRequest", (request, reply, done) => {
    observe(request, reply);
    done();
  });
  return observe;
}

/**
 * Emits "close" for a pipelined answer whose connection ends while it waits for the answers before it. Node does so only for
 * the answer that is being sent.
 */
function closeWithConnection(request: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return;
  request.socket.once("close", () => {
    if (response.socket === null && !response.closed) response.emit("close");
  });
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
    status: reply.raw.writableFinished ? reply.raw.statusCode : statusCutOff,
    durationMs,
    https: client.https,
    address: client.address,
    caller: traced && client.fromTrustedProxy ? readTraceParent(raw.headers.traceparent) : undefined,
  };
}

const zeroId = /^0+$/;

/** Parses `traceparent` (W3C Trace Context, level 1, 3.2); undefined when it is not valid. */
function readTraceParent(header: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof header !== "string") return undefined;
  const [, version, traceId, spanId, flags, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Only later versions may have more fields; ff is not a version.
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (zeroId.test(traceId) || zeroId.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}
