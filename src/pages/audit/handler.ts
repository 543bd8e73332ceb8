import type { FastifyReply } from "fastify";
import { AppError } from "../../base/errors.ts";
import { sendPieces } from "../../http/answers.ts";
import { attachment, jsonType } from "../../http/headers.ts";
import { pageMax, pageOf } from "../../http/parameters.ts";
import { linkOf } from "../dashboard/handler.ts";
import { renderGone } from "../gone.tsx";
import type { SignedInRequest } from "../request.ts";
import { trailAsCsv, trailAsJson } from "./export.ts";
import { auditPath, auditView } from "./view.tsx";

/** `GET /p/:token/audit`. The push of another owner gets the answer of one that never existed. */
export async function showAudit(page: SignedInRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  const number = pageOf(page.request);
  const trail = urlToken === undefined ? undefined : await page.services.pushes.trail(urlToken, page.actor, number);
  if (trail === undefined) return renderGone(page);
  const { push, events } = trail;
  const model = {
    listed: { push, link: linkOf(push, page.pushBaseUrl) },
    events,
    page: number,
    hasMore: trail.hasMore && number < pageMax,
    nowMs: page.services.clock.now(),
  };
  return page.render(auditView, model, { selfPath: auditPath(push.urlToken, number) });
}

const formats = {
  csv: { type: "text/csv; charset=utf-8", write: trailAsCsv },
  json: { type: jsonType, write: trailAsJson },
} as const;

/** `GET /p/:token/audit/download?format=csv` or `json` */
export async function downloadAudit(page: SignedInRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  const format = page.query("format");
  if (format !== "csv" && format !== "json") throw new AppError("invalid_request", "The format must be csv or json.");
  const trail = urlToken === undefined ? undefined : await page.services.pushes.wholeTrail(urlToken, page.actor);
  if (trail === undefined) return renderGone(page);
  const { type, write } = formats[format];
  // The push's name stays out of the file name: the name is private to its owner, a file name is not.
  const day = new Date(page.services.clock.now()).toISOString().slice(0, 10);
  page.reply.header("content-type", type);
  page.reply.header("content-disposition", attachment(`audit-${day}.${format}`));
  return sendPieces(page.reply, write(trail));
}
