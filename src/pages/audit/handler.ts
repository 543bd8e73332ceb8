import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { attachment, jsonType, sendPage } from "../../http/headers.ts";
import { pageMax, pageOf } from "../../http/parameters.ts";
import { linkOf } from "../dashboard/handler.ts";
import { sendGone } from "../gone/handler.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, queryOf, tokenOf } from "../page-scope.ts";
import { trailAsCsv, trailAsJson } from "./export.ts";
import { auditPath, auditView } from "./view.tsx";

export function registerAuditPages(server: FastifyInstance, deps: PageDeps): void {
  const config = { access: "page_session", changesState: false } as const;
  server.get("/p/:token/audit", { config }, (request, reply) => sendTrail(request, reply, deps));
  server.get("/p/:token/audit/download", { config }, (request, reply) => sendDownload(request, reply, deps));
}

/** A push of somebody else is answered like one that never was. */
async function sendTrail(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const token = tokenOf(request);
  const page = pageOf(request);
  const trail = token === undefined ? undefined : await deps.pushes.trail(token, request.actor, page);
  if (trail === undefined) return sendGone(request, reply, deps);
  const { push, events } = trail;
  const model = {
    listed: { push, link: linkOf(push, request.baseUrl) },
    events,
    page,
    hasMore: trail.hasMore && page < pageMax,
    nowMs: deps.clock.now(),
  };
  const context = pageContext(request, deps, auditPath(push.urlToken, page));
  return sendPage(reply, 200, renderPage(auditView(model, context)));
}

const formats = {
  csv: { type: "text/csv; charset=utf-8", write: trailAsCsv },
  json: { type: jsonType, write: trailAsJson },
} as const;

async function sendDownload(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const token = tokenOf(request);
  const asked = queryOf(request, "format");
  if (asked !== "csv" && asked !== "json") throw new AppError("invalid_request", "The format is csv or json.");
  const trail = token === undefined ? undefined : await deps.pushes.wholeTrail(token, request.actor);
  if (trail === undefined) return sendGone(request, reply, deps);
  const { type, write } = formats[asked];
  // No label in the name: what the push is called is for its owner's eyes, file names are for everybody's.
  const day = new Date(deps.clock.now()).toISOString().slice(0, 10);
  reply.header("content-type", type);
  reply.header("content-disposition", attachment(`audit-${day}.${asked}`));
  return reply.send(Readable.from(write(trail)));
}
