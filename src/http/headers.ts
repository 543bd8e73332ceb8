import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type LongText, sendLongText, sendPieces, sendText } from "./answers.ts";
import { compressFor } from "./compression.ts";

/** For every answer that is not a page: it may load nothing, run nothing and not be framed. */
const inertPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/** The folders of the addresses from which pages load images. Nothing below them redirects. */
const imageFolders = ["/assets/", "/branding/"] as const;

/**
 * Pages load only from this origin. No inline scripts or styles, so that injected markup has no effect; only the preview of a style
 * sheet has one style, which is allowed by its hash. Images have few addresses, and fonts none: a style sheet can load them when it has
 * read a secret of the page, and the request for any other address could be seen or counted.
 * @param imageSources addresses or paths of images besides those of assets and the theme.
 */
export function createPagePolicies(imageSources: readonly string[]): (request: FastifyRequest) => string {
  return (request) => {
    const own = ownHosts(request);
    const at = (path: string) => own.map((host) => `${host}${path}`);
    const folders = own.length === 0 ? ["'self'"] : imageFolders.flatMap(at);
    const logos = imageSources.flatMap((source) => (source.startsWith("/") ? at(source) : source));
    return (
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${[...folders, "data:", ...logos].join(" ")}; ` +
      "manifest-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
  };
}

/**
 * The hosts under which the browser may know this server; `'self'` in a policy has no path. Without a scheme a source has that of the
 * page. Empty: the host is unknown, or an IPv6 address, which a policy cannot name.
 */
function ownHosts({ baseUrl, client }: FastifyRequest): readonly string[] {
  if (baseUrl === "" || client.host.startsWith("[")) return [];
  return [...new Set([client.host.toLowerCase(), baseUrl.slice(baseUrl.indexOf("//") + 2)])];
}

/** The policy also allows one `<style>` element, which has exactly this text. */
function policyWithStyle(policy: string, styleText: string): string {
  const hash = createHash("sha256").update(styleText, "utf8").digest("base64");
  return policy.replace("style-src 'self'", `style-src 'self' 'sha256-${hash}'`);
}

/**
 * For an empty form: browsers keep no page in memory that says `no-store`, so that the Back button would show an empty form
 * after an error.
 */
export const revalidated = "private, no-cache";

/** Headers of every answer. Names in lower case. */
export const baseHeaders = {
  "cache-control": "no-store",
  "content-security-policy": inertPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Two years, for this host only: other hosts of the domain may not offer https. */
export const secureHeaders = { ...baseHeaders, "strict-transport-security": "max-age=63072000" };

export const robotsTag = "noindex, nofollow, noarchive";
/** The only pages that search engines may index, if they may index any: none of them shows anybody's data. */
export const indexablePaths: readonly string[] = ["/", "/p/new", "/help/api", "/api"];

export function isIndexable(url: string): boolean {
  return indexablePaths.includes(url.split("?")[0] ?? "");
}

export const jsonType = "application/json; charset=utf-8";
/** Fewer bytes than a page of short notes has. */
const listBytesAtOnce = 32 * 1024;
const htmlType = "text/html; charset=utf-8";

/**
 * @param options `compressible`: see `compressFor`; a long text is never compressed. `styleText`: the text of the only `<style>`
 * element of the page.
 * @throws AppError unavailable, as `sendText`.
 */
export function sendPage(
  reply: FastifyReply,
  status: number,
  html: string | LongText,
  {
    compressible = false,
    styleText,
  }: { readonly compressible?: boolean; readonly styleText?: string | undefined } = {},
): FastifyReply {
  const pagePolicy = reply.server.pagePolicyFor(reply.request);
  const policy = styleText === undefined ? pagePolicy : policyWithStyle(pagePolicy, styleText);
  reply.code(status).header("content-security-policy", policy).header("content-type", htmlType);
  if (typeof html !== "string") return sendLongText(reply, html);
  const body = compressible ? compressFor(reply, html) : html;
  return typeof body === "string" ? sendText(reply, body) : reply.send(body);
}

export function sendJsonText(reply: FastifyReply, status: number, json: string): FastifyReply {
  reply.header("content-type", jsonType);
  return sendText(reply.code(status), json);
}

export function sendJson(reply: FastifyReply, status: number, answer: object): FastifyReply {
  return sendJsonText(reply, status, JSON.stringify(answer));
}

/**
 * Sends a JSON array. Its items are presented one after the other if their texts are large.
 * @param textBytes what the items hold in memory.
 * @throws AppError unavailable, as `sendPieces`; what `items` throws for the first item.
 */
export async function sendJsonList(
  reply: FastifyReply,
  textBytes: number,
  items: Iterable<object>,
): Promise<FastifyReply> {
  if (textBytes <= listBytesAtOnce) return sendJson(reply, 200, [...items]);
  reply.header("content-type", jsonType);
  return await sendPieces(reply.code(200), jsonArray(items), textBytes);
}

function* jsonArray(items: Iterable<object>): Generator<string> {
  let separator = "[";
  for (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

/** For files whose name changes with their content. */
export function immutableFor(reply: FastifyReply): FastifyReply {
  return reply.header("cache-control", "public, max-age=31536000, immutable");
}

/** Content-Disposition of a download (RFC 6266): an ASCII name for old clients, and the real name in UTF-8 (RFC 8187). */
export function attachment(filename: string): string {
  return `attachment; ${named(filename)}`;
}

/** The same for a file that the browser shows; the name is for saving it afterwards. */
export function inline(filename: string): string {
  return `inline; ${named(filename)}`;
}

function named(filename: string): string {
  const name = filename.toWellFormed();
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  return plain === name ? `filename="${plain}"` : `filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`;
}

/** encodeURIComponent, and the characters that it leaves alone but RFC 8187 does not allow. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
