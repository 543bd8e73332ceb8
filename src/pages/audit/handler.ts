import type { FastifyReply } from "fastify";
import { AppError } from "../../base/errors.ts";
import { sendPieces } from "../../http/answers.ts";
import { attachment, jsonType } from "../../http/headers.ts";
import { pageMax, pageOf } from "../../http/parameters.ts";
import type { TrailEvent } from "../../pushes/pushes.ts";
import { linkOf } from "../dashboard/push-parts.tsx";
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
  const { push, files, events } = trail;
  const model = {
    listed: { push, link: linkOf(push, page.pushBaseUrl) },
    files,
    events,
    emails: await emailsOf(events, page),
    page: number,
    hasMore: trail.hasMore && number < pageMax,
    nowMs: page.services.clock.now(),
  };
  return page.render(auditView, model, { selfPath: auditPath(push.urlToken, number) });
}

/** The email addresses of the people who were signed in, without the reader and deleted accounts. At most one for each event. */
export async function emailsOf(
  events: readonly TrailEvent[],
  { user: reader, services }: SignedInRequest,
): Promise<ReadonlyMap<number, string>> {
  const emails = new Map<number, string>();
  const userIds = new Set(events.flatMap((event) => (event.kind === "limit" ? [] : (event.userId ?? []))));
  for (const userId of userIds) {
    const user = userId === reader?.id ? undefined : await services.accounts.findUser(userId);
    if (user !== undefined) emails.set(userId, user.email);
  }
  return emails;
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
  const emails = new Map<number, string>();
  const emailOf = async (userId: number): Promise<string> => {
    const email = emails.get(userId) ?? (await page.services.accounts.findUser(userId))?.email ?? "";
    emails.set(userId, email);
    return email;
  };
  return sendPieces(page.reply, write(trail, emailOf));
}
