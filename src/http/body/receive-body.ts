import type { IncomingMessage } from "node:http";
import type { FastifyContextConfig, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { crossSiteRefusal, FormTokenRefusal, hasNeededFormToken } from "../cross-site.ts";
import { BodyChunks } from "./body-chunks.ts";
import type { BodyHold, BodyIntake } from "./body-intake.ts";
import { type BodyParser, bodyTooLarge } from "./body-parser.ts";
import { charsetNamed, DecodedBody, textDecoder } from "./decoded-body.ts";
import { type FormFields, UrlencodedReader } from "./form-fields.ts";
import { JsonReader } from "./json-reader.ts";
import { receiveMultipart, type TakeFile } from "./multipart.ts";
import { isSmall } from "./small-bodies.ts";

interface BodyLimits {
  readonly jsonBytesMax: number;
  readonly urlencodedBytesMax: number;
  /** All fields of a form together, decoded; files of a multipart form are not fields. */
  readonly fieldBytesMax: number;
}

/**
 * The longest payload, 4 MiB of UTF-8, must fit in every encoding: as JSON with each character escaped (12 MiB) beside
 * 8 MiB of files in base64, percent-encoded (12 MiB), and plain in a multipart form; each with room for the other fields.
 */
const pushLimits: BodyLimits = {
  jsonBytesMax: 26 * 1024 * 1024,
  urlencodedBytesMax: 14 * 1024 * 1024,
  fieldBytesMax: 6 * 1024 * 1024,
};

/** No other form has more than a style sheet. */
const otherLimits: BodyLimits = {
  jsonBytesMax: 512 * 1024,
  urlencodedBytesMax: 512 * 1024,
  fieldBytesMax: 512 * 1024,
};

function limitsOf({ scope, streamsFiles }: FastifyContextConfig): BodyLimits {
  return scope === "create" || streamsFiles === true ? pushLimits : otherLimits;
}

const wholeBodyMsMax = 300_000;

const formType = "application/x-www-form-urlencoded";

/** What `receiveBody` reads. */
export const bodyTypes = ["application/json", formType, "multipart/form-data"] as const;
export type BodyType = (typeof bodyTypes)[number];

export interface ReceivedBody {
  readonly encoding: "json" | "form";
  /** JSON: any value, with `JsonNumber`s; undefined for an empty body. A form: `FormFields`. */
  readonly value: unknown;
}

/** For forms without file inputs. */
export const refuseFiles: TakeFile = async () => {
  throw new AppError("invalid_request", "This form takes no files.");
};

/**
 * Reads the request's body by its Content-Type; without one it is a form, since some clients omit the type. A form token
 * that the request needs is checked before `takeFile` gets the first file. The body counts as held until it is answered.
 * @throws AppError unsupported_media_type, invalid_request, too_large, too_slow, unavailable, forbidden; what `takeFile` and
 * `confirmAccess` throw.
 */
export async function receiveBody(
  request: FastifyRequest,
  intake: BodyIntake,
  takeFile: TakeFile,
): Promise<ReceivedBody> {
  if (request.formRead !== null) return { encoding: "form", value: request.formRead };
  const body = await (request.needsFormToken ? receiveProvenForm : readBody)(request, intake, takeFile);
  // Threat: somebody who is about to lose access opens requests before, and sends the rest of their bodies minutes or hours later.
  // Small bodies arrive within seconds, and a second look costs as much as they do.
  if (!isSmall(request.raw)) await request.confirmAccess?.();
  return body;
}

async function receiveProvenForm(
  request: FastifyRequest,
  intake: BodyIntake,
  takeFile: TakeFile,
): Promise<ReceivedBody> {
  let refusesFiles = false;
  const body = await readBody(request, intake, async (file, before) => {
    // The rest of the form is still read, so that the refusal has everything that was typed.
    refusesFiles ||= !hasNeededFormToken(request, before);
    if (!refusesFiles) await takeFile(file, before);
  });
  if (body.encoding !== "form") throw crossSiteRefusal();
  const form = body.value as FormFields;
  if (refusesFiles || !hasNeededFormToken(request, form)) throw new FormTokenRefusal(form);
  return body;
}

/** A JSON body of a provider that speaks SCIM (RFC 7644, section 3.1). @throws as `receiveBody`. */
export async function receiveScim(request: FastifyRequest, intake: BodyIntake): Promise<unknown> {
  const { raw } = request;
  const type = raw.headers["content-type"] ?? "";
  refuseCompression(raw);
  if (!/^application\/(?:scim\+)?json\s*(?:;|$)/i.test(type)) {
    throw new AppError("unsupported_media_type", "Send application/scim+json.");
  }
  return readJson(request, intake, intake.hold(request.client.key));
}

function readJson(request: FastifyRequest, intake: BodyIntake, hold: BodyHold): Promise<unknown> {
  request.bodyHold = hold;
  const { raw, routeOptions } = request;
  const parser = decoded(new JsonReader(), raw.headers["content-type"] ?? "");
  const bytesMax = limitsOf(routeOptions.config).jsonBytesMax;
  return parseWhole(raw, { bytesMax, intake, hold, parser, whenEmpty: undefined });
}

async function readBody(request: FastifyRequest, intake: BodyIntake, takeFile: TakeFile): Promise<ReceivedBody> {
  const { raw } = request;
  const type = raw.headers["content-type"] ?? "";
  refuseCompression(raw);
  const limits = limitsOf(request.routeOptions.config);
  const hold = intake.hold(request.client.key);
  request.bodyHold = hold;
  switch (type === "" ? formType : bodyTypeOf(type)) {
    case "application/json":
      return { encoding: "json", value: await readJson(request, intake, hold) };
    case formType: {
      const parser = new UrlencodedReader(limits.fieldBytesMax, textDecoder(charsetOf(type)));
      return {
        encoding: "form",
        value: await parseWhole(raw, { bytesMax: limits.urlencodedBytesMax, intake, hold, parser, whenEmpty: {} }),
      };
    }
    case "multipart/form-data": {
      const chunks = new BodyChunks(raw, intake.turns, undefined);
      try {
        return {
          encoding: "form",
          value: await receiveMultipart(type, chunks, { fieldBytesMax: limits.fieldBytesMax, hold, takeFile }),
        };
      } finally {
        await chunks.return();
      }
    }
    case undefined:
      throw new AppError("unsupported_media_type", "Send JSON, a multipart form or a urlencoded form.");
  }
}

async function parseWhole<T>(
  request: IncomingMessage,
  taking: {
    readonly bytesMax: number;
    readonly intake: BodyIntake;
    readonly hold: BodyHold;
    readonly parser: BodyParser<T>;
    readonly whenEmpty: T;
  },
): Promise<T> {
  const { bytesMax, intake, hold, parser, whenEmpty } = taking;
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax);
  if (isSmall(request)) {
    const body = await intake.small.receive(request);
    if (body.length === 0) return whenEmpty;
    await intake.turns.take(body.length);
    hold.add(body.length);
    parser.write(body);
    return parser.end();
  }
  const chunks = new BodyChunks(request, intake.turns, wholeBodyMsMax);
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw bodyTooLarge(bytesMax);
      hold.add(chunk.length);
      parser.write(chunk);
    }
    return bytes === 0 ? whenEmpty : parser.end();
  } finally {
    await chunks.return();
  }
}

/** For pages: a form in either encoding, without files unless `takeFile` is given. @throws as `receiveBody`. */
export async function receiveForm(
  request: FastifyRequest,
  intake: BodyIntake,
  takeFile: TakeFile = refuseFiles,
): Promise<FormFields> {
  const body = await receiveBody(request, intake, takeFile);
  if (body.encoding !== "form") throw new AppError("unsupported_media_type", "Send a form.");
  return body.value as FormFields;
}

/** Whether the body, if there is one, says that `receiveBody` can read it. */
export function isReadable(request: FastifyRequest): boolean {
  const { "content-type": type = "", "content-length": length, "transfer-encoding": coding } = request.raw.headers;
  const isSent = coding !== undefined || (length !== undefined && length !== "0");
  return isSent && bodyTypeOf(type) !== undefined;
}

export function isMultipart(request: FastifyRequest): boolean {
  return bodyTypeOf(request.raw.headers["content-type"] ?? "") === "multipart/form-data";
}

/** @returns undefined: `receiveBody` does not read such a body. */
function bodyTypeOf(contentType: string): BodyType | undefined {
  if (contentType === "application/json") return contentType;
  const semicolon = contentType.indexOf(";");
  const mediaType = (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  return bodyTypes.find((type) => type === mediaType);
}

/** In lower case; "": UTF-8. */
function charsetOf(contentType: string): string {
  return charsetNamed(/;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1] ?? "");
}

/** @returns a parser of the body in the charset of its type. @throws AppError unsupported_media_type: an unknown charset. */
function decoded<T>(parser: BodyParser<T>, contentType: string): BodyParser<T> {
  const charset = charsetOf(contentType);
  return charset === "" ? parser : new DecodedBody(parser, charset);
}

/** A compressed body could grow without bound when decompressed. @throws AppError unsupported_media_type. */
export function refuseCompression({ headers }: IncomingMessage): void {
  const isPlain = (codings = "", ...plain: readonly string[]) =>
    codings.split(",").every((coding) => plain.includes(coding.trim().toLowerCase()));
  if (
    isPlain(headers["content-encoding"], "", "identity") &&
    isPlain(headers["transfer-encoding"], "", "identity", "chunked")
  )
    return;
  throw new AppError("unsupported_media_type", "Send the body without compression.");
}
