import { AppError } from "../../base/errors.ts";
import { sendPieces } from "../../http/answers.ts";
import { attachment, jsonType } from "../../http/headers.ts";
import { presentLinkDelivery, timestamp, timestampOrNull } from "../../http/present.ts";
import type { TrailEvent, WholeTrail } from "../../pushes/pushes.ts";
import { renderGone } from "../gone.tsx";
import type { Reply, SignedInRequest } from "../request.ts";

/** An event in both formats. The names are those of the API's audit answer, and some more. */
interface ExportedEvent {
  readonly kind: string;
  readonly by: string;
  /** The person who was signed in; "": nobody was, or the account was deleted. */
  readonly email: string;
  readonly ip: string;
  readonly user_agent: string;
  readonly referrer: string;
  readonly times: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly notify_by_email?: ReturnType<typeof presentLinkDelivery>;
}

const columns: readonly Exclude<keyof ExportedEvent, "notify_by_email">[] = [
  "created_at",
  "updated_at",
  "kind",
  "by",
  "email",
  "ip",
  "user_agent",
  "referrer",
  "times",
];

/** @returns the email address of a user; "": the account was deleted. */
export type EmailOf = (userId: number) => Promise<string>;

const mailColumns = ["recipients", "status", "successful_sends"] as const;

/** RFC 4180, with a byte order mark: without it spreadsheets do not recognise UTF-8. */
export async function* trailAsCsv({ events }: WholeTrail, emailOf: EmailOf): AsyncGenerator<string, void> {
  yield `\uFEFF${[...columns, ...mailColumns.map((column) => `notify_by_email_${column}`)].join(",")}\r\n`;
  for await (const event of events) {
    const exported = await exportedEvent(event, emailOf);
    const mails = mailColumns.map((column) => exported.notify_by_email?.[column] ?? "");
    yield `${[...columns.map((column) => exported[column]), ...mails].map((cell) => csvField(String(cell))).join(",")}\r\n`;
  }
}

/** One JSON object: the push and, oldest first, its `logs`. */
export async function* trailAsJson({ push, events }: WholeTrail, emailOf: EmailOf): AsyncGenerator<string, void> {
  const about = {
    name: push.name,
    note: push.note,
    kind: push.kind,
    created_at: timestamp(push.createdAt),
    expires_at: timestamp(push.expiresAt),
    expired: push.expired,
    expired_on: timestampOrNull(push.expiredOn),
    views: push.views,
    expire_after_views: push.expireAfterViews,
  };
  yield `{"push":${JSON.stringify(about)},"logs":[`;
  let separator = "\n";
  for await (const event of events) {
    yield separator + JSON.stringify(await exportedEvent(event, emailOf));
    separator = ",\n";
  }
  yield "\n]}\n";
}

async function exportedEvent(event: TrailEvent, emailOf: EmailOf): Promise<ExportedEvent> {
  const times = { created_at: timestamp(event.createdAt), updated_at: timestamp(event.updatedAt) };
  if (event.kind === "limit") {
    const nobody = { email: "", ip: "", user_agent: "", referrer: "" };
    return { kind: `ended_by_${event.reason}`, by: "server", ...nobody, times: 1, ...times };
  }
  const { kind, by, userId, address, userAgent, referrer, linkDelivery } = event;
  const email = userId === null ? "" : await emailOf(userId);
  const mails = linkDelivery === undefined ? {} : { notify_by_email: presentLinkDelivery(linkDelivery) };
  return { kind, by, email, ip: address, user_agent: userAgent, referrer, times: event.times, ...times, ...mails };
}

/**
 * What starts a formula in a spreadsheet, full-width forms included: at the start of the text and after every character that
 * separates cells in some locale. A spreadsheet that splits at `;` takes our quotes for text, so quotes and blanks in
 * between do not protect.
 */
const formulaStart = /(?<=(?:^|[,;|\t\r\n\v\f\u0085\u2028\u2029])[\s"']*)[=+\-@\uff1d\uff0b\uff0d\uff20]/g;
/** Some spreadsheets drop these and read the rest as a cell of its own. */
const controlStart = /^(?=[\t\r\n])/;

/**
 * Always quoted. An apostrophe turns what a spreadsheet would take for a formula into text. Threat: a user agent with a
 * formula, executed when the owner opens the file.
 */
export function csvField(text: string): string {
  const harmless = text.replaceAll(formulaStart, "'$&").replace(controlStart, "'");
  return `"${harmless.replaceAll('"', '""')}"`;
}

const formats = {
  csv: { type: "text/csv; charset=utf-8", write: trailAsCsv },
  json: { type: jsonType, write: trailAsJson },
} as const;

/** `GET /p/:token/audit/download?format=csv` or `json` */
export async function downloadAudit(page: SignedInRequest): Promise<Reply> {
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
