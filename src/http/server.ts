import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Accounts } from "../accounts/accounts.ts";
import type { Clock, Every } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { pollHeader } from "../base/poll-header.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import { withDatabaseBudget } from "../database/request-budget.ts";
import type { RequestCounts } from "../limits/request-counts.ts";
import type { RequestWatch } from "../telemetry/answered-request.ts";
import type { Events } from "../telemetry/events.ts";
import { AnswerOutflow, answerMemoryLimits } from "./answers.ts";
import { anonymousActor } from "./authentication.ts";
import { httpsAddressFor } from "./base-url.ts";
import { BodyIntake, bodyMemoryLimits } from "./body/body-intake.ts";
import { createClientReader, createPeerReader, type PeerReader, unknownPeer } from "./client.ts";
import { answerClientError, answerExpectation } from "./client-errors.ts";
import { limitConnections } from "./connections.ts";
import { discardBody } from "./discard-body.ts";
import { createDrain } from "./drain.ts";
import { answerError, type RenderError } from "./errors.ts";
import { baseHeaders, createPagePolicies, isIndexable, robotsTag, secureHeaders } from "./headers.ts";
import { createListeners, type Listener } from "./listener.ts";
import type { MetricsGate } from "./metrics.ts";
import { createServer as createHttpServer } from "./node-http.ts";
import { answerNotFound, type FindOldAddress, isRead } from "./not-found.ts";
import { observeRequests } from "./observe-requests.ts";
import { addressOf } from "./request-address.ts";
import { guardRoutes } from "./route-access.ts";
import { createEntryCookies, createSessionCookies } from "./session-cookie.ts";
import { createSharedThrottle } from "./shared-throttle.ts";
import { cutSlowReaders } from "./slow-readers.ts";
import { type ChargeRequest, createChargeRequest, createThrottle } from "./throttle.ts";
import "./request.ts";

export interface ServerDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Events;
  readonly accounts: Pick<Accounts, "authenticateToken" | "authenticateSession" | "entryFormToken">;
  /** HTML for a refusal on a page's path. */
  readonly renderError: RenderError;
  readonly findOldAddress: FindOldAddress;
  /** Called for each request with forwarding headers from an untrusted address. */
  readonly onUntrustedForwarder: (address: string) => void;
  /** Requests counted by all processes; undefined: this process counts alone. */
  readonly requestCounts: RequestCounts | undefined;
  readonly watch: RequestWatch;
  readonly monotonicMs: () => number;
  readonly metricsGate: MetricsGate | undefined;
  /** The memory that this process may use. */
  readonly memoryBytes: number;
  /** Whether the process has no room for another large body. */
  readonly isMemoryShort: () => boolean;
  /** Checks the readers of answers at an interval. */
  readonly every: Every;
}

export type Server = ReturnType<typeof createServer>;

const requestIdBytes = 8;
const headerBytesMax = 16 * 1024;
/** Parameters have no separate limit: handlers check their shape, and an overlong token is answered like an unknown one. */
const paramLengthMax = headerBytesMax;
/** From the connection, or the first byte of a later request, to the end of the headers. */
const headersMsMax = 10_000;
const timeoutCheckMs = 1_000;
/**
 * The buffer of a connection's stream. Below this limit Node continues to read in the same turn of the event loop: a body in
 * HTTP chunks of one byte then makes one call per byte.
 */
const streamBytesMax = 8 * 1024;
/** Time without a byte in either direction: a slow upload may take long, a stalled one may not. */
export const idleMsMax = 75_000;
const keepAliveMs = 65_000;
/** 1 GiB at 400 kbit/s. */
const requestMsMax = 6 * 3_600_000;
const httpOptions = {
  headersTimeout: headersMsMax,
  connectionsCheckingInterval: timeoutCheckMs,
  maxHeaderSize: headerBytesMax,
  requireHostHeader: false,
  highWaterMark: streamBytesMax,
};

/** The server, and the second one where the public gateway has an address of its own. */
function createHttpServers(server: FastifyInstance, config: Config, newRequestId: () => string) {
  const gateway =
    config.gateway.listener &&
    createGatewayServer(server, (error, socket) => answerClientError(error, socket, newRequestId()));
  const httpServers: readonly HttpServer[] = gateway === undefined ? [server.server] : [server.server, gateway];
  for (const each of httpServers) {
    each.on("checkExpectation", (request, response) => answerExpectation(request, response, newRequestId()));
  }
  return { gateway, httpServers };
}

/** What a request has until a hook gives it more; see request.ts. */
const requestDefaults = {
  baseUrl: "",
  pushBaseUrl: "",
  user: null,
  session: null,
  formToken: null,
  entryFormToken: null,
  needsFormToken: false,
  confirmAccess: null,
  formRead: null,
  answerHold: null,
  bodyHold: null,
} satisfies Partial<FastifyRequest>;

function decorate(server: FastifyInstance, deps: ServerDeps): void {
  for (const name of ["client", "actor", "listener"]) server.decorateRequest(name);
  for (const [name, value] of Object.entries(requestDefaults))
    server.decorateRequest<string | boolean | null>(name, value);
  server.decorate("pagePolicyFor", createPagePolicies(deps.config.imageSources));
  server.decorate("answerOutflow", new AnswerOutflow(answerMemoryLimits(deps.memoryBytes), () => nextTurn()));
}

/** No route has a schema: handlers check what they read. Without these compilers, a hundred files fewer are loaded at the start. */
function refuseSchemas(): never {
  throw new Error("A route has a schema, which nothing would check.");
}

function boundDatabaseTime(server: FastifyInstance, database: Config["database"]): void {
  if (database.engine !== "postgres") return;
  server.addHook("onRequest", (_request, _reply, done) => withDatabaseBudget(database.answerMsMax, done));
}

/** Creates the server with everything that applies to all requests. The caller adds the routes and listens. */
export function createServer(deps: ServerDeps) {
  const { config, events, random, renderError } = deps;
  const newRequestId = () => random.bytes(requestIdBytes).toString("hex");
  const sessionCookies = createSessionCookies(config);
  const bodyIntake = new BodyIntake(bodyMemoryLimits(deps.memoryBytes), deps.isMemoryShort, () => nextTurn());
  const server = fastify({
    logger: false,
    genReqId: newRequestId,
    requestIdHeader: false,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    rewriteUrl: addressOf,
    connectionTimeout: idleMsMax,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestMsMax,
    http: httpOptions,
    routerOptions: { maxParamLength: paramLengthMax },
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, newRequestId()),
    frameworkErrors(error, request, reply) {
      // This callback has no caller that catches, so an exception here would end the process.
      try {
        setDefaults(request, reply, listenerOf(request.raw));
        observe(request, reply);
        answerError(error, request, reply, { events, renderError });
      } catch (bug) {
        events.unexpectedError({ requestId: request.id, method: request.method, route: "no route" }, bug);
        reply.raw.writeHead(500, { ...baseHeaders, "x-request-id": request.id }).end();
      }
    },
  });
  const { gateway, httpServers } = createHttpServers(server, config, newRequestId);
  const listenerOf = createListenerReader(config, gateway);

  const peerOf = createPeerReader(config.trustedProxies);
  limitConnections(httpServers, {
    peerOf,
    newRequestId,
    memoryBytes: deps.memoryBytes,
    perClientMax: config.connectionsPerClientMax,
    monotonicMs: deps.monotonicMs,
    onRefused: events.connectionRefused,
  });
  const drain = createDrain(httpServers);
  decorate(server, deps);
  const stopCuttingReaders = cutSlowReaders(httpServers, deps);
  server.addHook("onClose", async () => stopCuttingReaders());
  const observe = observeRequests(server, httpServers, deps.watch, deps.monotonicMs);
  boundDatabaseTime(server, config.database);
  admitRequests(server, deps, { peerOf, listenerOf });
  const routes = guardRoutes(server, {
    accounts: deps.accounts,
    allowAnonymous: config.allowAnonymous,
    allowAnonymousRequests: config.allowAnonymousRequests,
    sessionCookies,
    entryCookies: createEntryCookies(config),
    random,
    bodyIntake,
    renderError,
    requireSecondFactor: config.accounts.requireSecondFactor,
    scimTokens: config.scim?.tokens ?? [],
  });
  disableBodyParsing(server);
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply, { events, renderError }));
  server.setNotFoundHandler((request, reply) =>
    answerNotFound(request, reply, { routes, renderError, findOldAddress: deps.findOldAddress }),
  );
  return { fastify: server, gateway, routes, sessionCookies, bodyIntake, drain };
}

/** A second HTTP server, with the same timeouts, for the routes of the first one. It does not listen yet. */
function createGatewayServer(
  { routing }: FastifyInstance,
  onClientError: (error: Error, socket: Socket) => void,
): HttpServer {
  const gateway = createHttpServer(
    { ...httpOptions, keepAliveTimeout: keepAliveMs, requestTimeout: requestMsMax },
    routing,
  );
  gateway.setTimeout(idleMsMax);
  gateway.on("clientError", onClientError);
  return gateway;
}

/** @param gatewayServer receives the connections of the gateway; undefined: there is one server. */
function createListenerReader(
  config: Config,
  gatewayServer: HttpServer | undefined,
): (request: IncomingMessage) => Listener {
  const { complete, gateway } = createListeners(config);
  const connections = new WeakSet<Socket>();
  gatewayServer?.on("connection", (socket: Socket) => connections.add(socket));
  return ({ socket }) => (config.gateway.only || connections.has(socket) ? gateway : complete);
}

/** The first hook of every request: sets client, base URL and common headers, throttles, and redirects to HTTPS. */
function admitRequests(
  server: FastifyInstance,
  deps: ServerDeps,
  { peerOf, listenerOf }: { readonly peerOf: PeerReader; readonly listenerOf: (request: IncomingMessage) => Listener },
): void {
  const { config, metricsGate } = deps;
  const clientOf = createClientReader({ peerOf, onUntrustedForwarder: deps.onUntrustedForwarder });
  const charge = openThrottle(deps);

  server.addHook("onRequest", (request, reply, done) => {
    const client = clientOf(request.raw);
    const listener = listenerOf(request.raw);
    request.client = client;
    request.listener = listener;
    reply.headers(client.https || listener.overHttps ? secureHeaders : baseHeaders);
    reply.header("x-request-id", request.id);
    if (config.noIndex || !isIndexable(request.raw.url ?? "")) reply.header("x-robots-tag", robotsTag);
    const isBodyRead = readsBody(request);
    if (!isBodyRead) discardBody(request.raw, reply.raw);
    if (hasSeveralHosts(request.raw)) {
      reply.header("connection", "close");
      throw new AppError("invalid_request", "The request has more than one Host header.");
    }
    if (isExempt(request.raw.url ?? "") || metricsGate?.isScrape(request.raw) === true) {
      done();
      return;
    }
    /** @returns false when the request has been answered. */
    const admit = (waitSeconds: number): boolean => {
      if (waitSeconds > 0) throw tooManyRequests(waitSeconds);
      request.baseUrl = listener.baseUrlOf(client);
      request.pushBaseUrl = config.gateway.url ?? request.baseUrl;
      const address = config.forceHttps ? httpsAddressFor(request.raw, client, request.baseUrl) : undefined;
      if (address === undefined) return true;
      if (isBodyRead) discardBody(request.raw, reply.raw);
      // Old clients know only 301. For requests other than GET and HEAD, 308 keeps the method and the body.
      reply.redirect(address, isRead(request.method) ? 301 : 308);
      return false;
    };
    const charged = charge(client.key, request.raw.headers[pollHeader] !== undefined);
    if (typeof charged === "number") {
      if (admit(charged)) done();
    } else {
      charged.then(admit).then((admitted) => admitted && done(), done);
    }
  });
}

/**
 * Handlers read the bodies of POST and PATCH, of a PUT of SCIM, of a page's DELETE, which may contain the form token, and of a retrieval
 * through the API, which may contain the passphrase.
 */
function readsBody({ raw, routeOptions: { config } }: FastifyRequest): boolean {
  return (
    raw.method === "POST" ||
    raw.method === "PATCH" ||
    (raw.method === "PUT" && config.access === "scim") ||
    (raw.method === "DELETE" && config.access?.startsWith("page") === true) ||
    (raw.method === "GET" && config.access === "api" && config.retrieval === true)
  );
}

function tooManyRequests(retryAfterSeconds: number): AppError {
  return new AppError("too_many_requests", "Too many requests. Try again shortly.", { retryAfterSeconds });
}

function openThrottle({ config, clock, monotonicMs, events, requestCounts }: ServerDeps): ChargeRequest {
  const onUnanswered = events.limitsUnanswered;
  return createChargeRequest(config.throttling, (limits) =>
    requestCounts === undefined
      ? createThrottle(limits, clock)
      : createSharedThrottle({ limits, clock, monotonicMs, counts: requestCounts, onUnanswered }),
  );
}

/**
 * The parser keeps the first of several Host headers. A proxy in front may have used another one (RFC 9112, 3.2).
 */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === "host") hosts += 1;
  }
  return hosts > 1;
}

/** These paths are not throttled, and answered under any host name: load balancers use their own. */
function isExempt(url: string): boolean {
  return url.startsWith("/assets/") || url === "/up" || url === "/ready";
}

/** The framework reads no body: handlers that need one call `receiveBody`, which has its own limits. */
function disableBodyParsing(server: FastifyInstance): void {
  for (const method of server.supportedMethods) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/** For requests that the router refuses: they pass no hook, so the decorators have no values. */
function setDefaults(request: FastifyRequest, reply: FastifyReply, listener: Listener): void {
  const { address, key } = unknownPeer;
  const client = { address, key, https: false, host: "", fromTrustedProxy: false };
  Object.assign(request, requestDefaults, { client, listener });
  request.actor = anonymousActor(request);
  reply.headers(baseHeaders);
  reply.header("x-request-id", request.id);
}
