import type { FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { decodeText } from "./body/body-parser.ts";
import { FormFieldCollector, type FormFields, UrlencodedReader } from "./body/form-fields.ts";

/** The last page of any list. */
export const pageMax = 200;
const tokenPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** More than the headers of a request may have. */
const queryBytesMax = 64 * 1024;
const pagePattern = /^[1-9][0-9]{0,2}$/;

/** The url_token in the path. @throws AppError not_found if it cannot be one. */
export function urlTokenOf(request: FastifyRequest): string {
  const token = ownText(request.params, "url_token");
  if (token === undefined || !tokenPattern.test(token)) throw new AppError("not_found", "not-found");
  return token;
}

/** `?page=`, 1 by default. @throws AppError invalid_request. */
export function pageOf(request: FastifyRequest): number {
  // A list or an object, as in `page[]=1`, is no page either.
  const names = Object.keys(Object(request.query)).filter((name) => /^page(?:\[|$)/.test(name));
  if (names.length === 0) return 1;
  const given: unknown = Reflect.get(Object(request.query), "page");
  const page = names.length === 1 && typeof given === "string" && pagePattern.test(given) ? Number(given) : 0;
  if (page < 1 || page > pageMax) throw new AppError("invalid_request", "Invalid page parameter");
  return page;
}

/**
 * The passphrase from the header X-Push-Passphrase, else from the body, else from the query; undefined: none. Addresses end up
 * in logs, headers and bodies do not.
 * @throws AppError invalid_request if the query has several.
 */
export function passphraseOf(request: FastifyRequest, fromBody: string | undefined): string | undefined {
  const header = request.raw.headers["x-push-passphrase"];
  if (typeof header === "string" && header !== "") return decodeHeader(header);
  if (fromBody !== undefined) return fromBody;
  const given: unknown = Reflect.get(Object(request.query), "passphrase");
  if (given === undefined || given === "") return undefined;
  if (typeof given !== "string") throw new AppError("invalid_request", "Give one passphrase.");
  return given;
}

/** The header X-Request-Proof, see `ownerProofOf`; "": none. */
export function requestProofOf(request: FastifyRequest): string {
  const header = request.raw.headers["x-request-proof"];
  return typeof header === "string" ? header : "";
}

/**
 * The fields in the query string in the form of a body: `?push[payload]=x` becomes the key `payload` of an object `push`.
 * @throws AppError invalid_request, as `UrlencodedReader`.
 */
export function queryFields(request: FastifyRequest): FormFields {
  const url = request.raw.url ?? "";
  const start = url.indexOf("?");
  if (start === -1) return new FormFieldCollector().fields;
  const reader = new UrlencodedReader(queryBytesMax, decodeText);
  reader.write(Buffer.from(url.slice(start + 1), "latin1"));
  return reader.end();
}

const idempotencyKeyPattern = /^[\x21-\x7e]{16,255}$/;

/** A client's secret for repeating a request. */
function isIdempotencyKey(text: string): boolean {
  return idempotencyKeyPattern.test(text);
}

/** The field `idempotency_key` of a page's form; undefined: none, or not one that a page has made. */
export function formIdempotencyKey({ idempotency_key: key }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof key === "string" && isIdempotencyKey(key) ? key : undefined;
}

/** The header Idempotency-Key; undefined: none. @throws AppError invalid_request. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.raw.headers["idempotency-key"];
  if (header === undefined) return undefined;
  if (typeof header !== "string" || !isIdempotencyKey(header)) {
    throw new AppError("invalid_request", "Idempotency-Key must have 16 to 255 visible ASCII characters.");
  }
  return header;
}

/** Node decodes header bytes as Latin-1, but most clients send UTF-8 (RFC 9110, 5.5 allows both). */
function decodeHeader(header: string): string {
  const bytes = Buffer.from(header, "latin1");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : header;
}

function ownText(values: unknown, name: string): string | undefined {
  const value: unknown = Reflect.get(Object(values), name);
  return typeof value === "string" ? value : undefined;
}
