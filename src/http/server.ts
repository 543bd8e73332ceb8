import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Accounts } from "../accounts/accounts.ts";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import type { RequestCounts } from "../limits/request-counts.ts";
import type { RequestWatch } from "../telemetry/answered-request.ts";
import type { Events } from "../telemetry/events.ts";
import { strangerAt } from "./authentication.ts";
import { createBaseUrls } from "./base-url.ts";
import { BodyBudget, bodyBudgetLimits } from "./body/body-budget.ts";
import { createClientReader } from "./client.ts";
import { answerClientError, answerExpectation } from "./client-errors.ts";
import { discardRest } from "./discard-rest.ts";
import { createDrain, type Drain } from "./drain.ts";
import { answerError, type RenderError } from "./errors.ts";
import { httpsAddressFor } from "./force-https.ts";
import { baseHeaders, secureHeaders } from "./headers.ts";
import type { MetricsGate } from "./metrics-gate.ts";
import { guardRoutes, type RouteEntry } from "./route-access.ts";
import { createSessionCookies, type SessionCookies } from "./session-cookie.ts";
import { createSharedThrottle } from "./shared-throttle.ts";
import { type ChargeRequest, createThrottle } from "./throttle.ts";
import { answerUnrouted, isRead } from "./unrouted.ts";
import { watchRequests } from "./watch-requests.ts";
import "./request.ts";

export interface ServerDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly accounts: Pick<Accounts, "authenticateToken" | "authenticateSession">;
  /** HTML for a refusal on a page's address. */
  readonly renderError: RenderError;
  /** Told of each address that forwards without being trusted; it may be told often. */
  readonly onUntrustedForwarder: (address: string) => void;
  /** What other processes have let pass; undefined: this one counts alone. */
  readonly requestCounts: RequestCounts | undefined;
  readonly watch: RequestWatch;
  readonly monotonicMs: () => number;
  readonly metricsGate: MetricsGate | undefined;
}

export interface Server {
  readonly fastify: FastifyInstance;
  /** All routes registered so far. */
  readonly routes: readonly RouteEntry[];
  readonly sessionCookies: SessionCookies;
  readonly bodyBudget: BodyBudget;
  readonly drain: Drain;
}

const requestIdBytes = 8;
const headerBytesMax = 16 * 1024;
/** Any that fits into the headers: handlers check a parameter's shape, and an endless token must look like an unknown one. */
const paramLengthMax = headerBytesMax;
const headersMsMax = 20_000;
/** Without a byte in either direction; an upload that goes on may take long, one that stalls may not. */
export const idleMsMax = 75_000;
const keepAliveMs = 65_000;
/** 1 GiB at 400 kbit/s. */
const requestMsMax = 6 * 3_600_000;

/** Listening and routes are the caller's; everything that holds for every request is set up here. */
export function createServer(deps: ServerDeps): Server {
  const { config, events, random, renderError } = deps;
  const makeRequestId = () => random.bytes(requestIdBytes).toString("hex");
  const sessionCookies = createSessionCookies(config.secureCookies);
  const bodyBudget = new BodyBudget(bodyBudgetLimits);
  const server = fastify({
    logger: false,
    genReqId: makeRequestId,
    requestIdHeader: false,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    connectionTimeout: idleMsMax,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestMsMax,
    http: { headersTimeout: headersMsMax, maxHeaderSize: headerBytesMax, requireHostHeader: false },
    routerOptions: { maxParamLength: paramLengthMax },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, makeRequestId()),
    frameworkErrors(error, request, reply) {
      // Nothing above this catches: what is thrown here would end the process.
      try {
        setUnknown(request, reply);
        watchUnrouted(request, reply);
        answerError(error, request, reply, { events, renderError });
      } catch (bug) {
        events.unexpectedError({ requestId: request.id, method: request.method, route: "no route" }, bug);
        reply.raw.writeHead(500, { ...baseHeaders, "x-request-id": request.id }).end();
      }
    },
  });
  server.server.on("checkExpectation", (request, response) => answerExpectation(request, response, makeRequestId()));

  const drain = createDrain(server.server);
  server.decorateRequest("client");
  server.decorateRequest("actor");
  server.decorateRequest("baseUrl", "");
  server.decorateRequest("user", null);
  server.decorateRequest("session", null);
  server.decorateRequest("formToken", null);
  server.decorateRequest("owesFormToken", false);
  server.decorateRequest("formRead", null);
  const watchUnrouted = watchRequests(server, deps.watch, deps.monotonicMs);
  welcomeRequests(server, deps);
  const routes = guardRoutes(server, {
    ...{ accounts: deps.accounts, allowAnonymous: config.allowAnonymous, sessionCookies, bodyBudget, renderError },
    requireSecondFactor: config.accounts.requireSecondFactor,
  });
  readNoBodies(server);
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply, { events, renderError }));
  server.setNotFoundHandler((request, reply) => answerUnrouted(request, reply, routes, renderError));
  return { fastify: server, routes, sessionCookies, bodyBudget, drain };
}

/** The one hook before every answer: who asks, from where, how fast; and the constant headers. */
function welcomeRequests(server: FastifyInstance, deps: ServerDeps): void {
  const { config, metricsGate } = deps;
  const clientOf = createClientReader({
    trustedProxies: config.trustedProxies,
    onUntrustedForwarder: deps.onUntrustedForwarder,
  });
  const baseUrlOf = createBaseUrls(config);
  const charge = openThrottle(deps);
  const overHttps = config.overrideBaseUrl?.startsWith("https:") === true;

  server.addHook("onRequest", (request, reply, done) => {
    const client = clientOf(request.raw);
    request.client = client;
    reply.headers(client.https || overHttps ? secureHeaders : baseHeaders);
    reply.header("x-request-id", request.id);
    // Given and empty says as little as not given; the framework would refuse it.
    if (request.raw.headers["content-type"] === "") delete request.raw.headers["content-type"];
    if (request.raw.method !== "POST") discardRest(request.raw, reply.raw);
    if (isExempt(request.raw.url ?? "") || metricsGate?.isScrape(request.raw) === true) {
      done();
      return;
    }
    /** @returns whether the request goes on: it does not when it has been answered. */
    const admit = (waitSeconds: number): boolean => {
      if (waitSeconds > 0) throw tooManyRequests(waitSeconds);
      request.baseUrl = baseUrlOf(client);
      const address = config.forceHttps ? httpsAddressFor(request.raw, client, request.baseUrl) : undefined;
      if (address === undefined) return true;
      if (request.raw.method === "POST") discardRest(request.raw, reply.raw);
      // 301 is what the oldest clients know; for all else the method and the body must stay what they are.
      reply.redirect(address, isRead(request.method) ? 301 : 308);
      return false;
    };
    const charged = charge(client.key);
    if (typeof charged === "number") {
      if (admit(charged)) done();
    } else {
      charged.then(admit).then((goesOn) => goesOn && done(), done);
    }
  });
}

function tooManyRequests(retryAfterSeconds: number): AppError {
  return new AppError("too_many_requests", "Too many requests. Try again shortly.", { retryAfterSeconds });
}

function openThrottle({ config, clock, monotonicMs, events, requestCounts }: ServerDeps): ChargeRequest {
  const limits = config.throttling;
  if (requestCounts === undefined) return createThrottle(limits, clock);
  const onUnanswered = events.limitsUnanswered;
  return createSharedThrottle({ limits, clock, monotonicMs, counts: requestCounts, onUnanswered });
}

/** Not counted, and asked by load balancers under any name. */
function isExempt(url: string): boolean {
  return url.startsWith("/assets/") || url === "/up" || url === "/ready";
}

/** The framework reads no body: a handler that wants one asks for it by `receiveBody`, with its own limits. */
function readNoBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (_request, _payload, done) => done(null));
}

/** For answers to requests that the router refused: they have neither passed a hook nor got the decorations' defaults. */
function setUnknown(request: FastifyRequest, reply: FastifyReply): void {
  request.client = { address: "0.0.0.0", key: "0.0.0.0", https: false, host: "", fromTrustedProxy: false };
  request.baseUrl = "";
  request.user = null;
  request.session = null;
  request.formToken = null;
  request.owesFormToken = false;
  request.formRead = null;
  request.actor = strangerAt(request);
  reply.headers(baseHeaders);
  reply.header("x-request-id", request.id);
}
