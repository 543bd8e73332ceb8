import type { FastifyReply } from "fastify";

/** One thing may load nothing, run nothing and be framed by nobody: right for all that is not a page of ours. */
const inertPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/** Pages load only from this origin; no inline script or style, so markup that slipped through stays dead. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export type HeaderSet = Readonly<Record<string, string>>;

/** Constant headers of every answer, whatever else it is. Names in lower case. */
export const baseHeaders: HeaderSet = {
  "cache-control": "no-store",
  "content-security-policy": inertPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Two years, this host only: whether its siblings speak https is not ours to say. */
export const secureHeaders: HeaderSet = { ...baseHeaders, "strict-transport-security": "max-age=63072000" };

export const jsonType = "application/json; charset=utf-8";
export const htmlType = "text/html; charset=utf-8";

export function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  reply.header("content-security-policy", pagePolicy);
  reply.header("content-type", htmlType);
  return reply.code(status).send(html);
}

/** `json` is written as it is. */
export function sendJsonText(reply: FastifyReply, status: number, json: string): FastifyReply {
  reply.header("content-type", jsonType);
  return reply.code(status).send(json);
}

export function sendJson(reply: FastifyReply, status: number, answer: object): FastifyReply {
  return sendJsonText(reply, status, JSON.stringify(answer));
}

/** For files whose name changes with their content. */
export function immutableFor(reply: FastifyReply): FastifyReply {
  return reply.header("cache-control", "public, max-age=31536000, immutable");
}
