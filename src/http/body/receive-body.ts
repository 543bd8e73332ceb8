import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { assertFormToken, crossSiteRefusal } from "../cross-site.ts";
import { type BodyBudget, BudgetShare, uncountedBytesMax } from "./body-budget.ts";
import { type FormFields, parseUrlencoded } from "./form-fields.ts";
import { receiveMultipart, type TakeFile } from "./multipart.ts";
import { parseJson } from "./parse-json.ts";

/**
 * The longest payload, 4 MiB of UTF-8, must fit in every encoding: as JSON with each character escaped (12 MiB) beside
 * 8 MiB of files in base64, percent-encoded (12 MiB), and plain in a multipart form; each with room for the other fields.
 */
export const jsonBytesMax = 26 * 1024 * 1024;
export const urlencodedBytesMax = 14 * 1024 * 1024;
export const fieldBytesMax = 6 * 1024 * 1024;

/** From the first byte of a body that is read whole to the last. */
const wholeBodyMsMax = 300_000;

export interface ReceivedBody {
  readonly encoding: "json" | "form";
  /** JSON: any value. A form: `FormFields`. */
  readonly value: unknown;
}

/** For forms without file inputs. */
export const refuseFiles: TakeFile = async () => {
  throw new AppError("invalid_request", "This form takes no files.");
};

/**
 * Reads the request's body by its Content-Type; without one it is a form, since some clients omit the type. A form token
 * that the request needs is checked before `takeFile` gets the first file.
 * @throws AppError unsupported_media_type, invalid_request, too_large, unavailable, forbidden; what `takeFile` throws.
 */
export async function receiveBody(
  request: FastifyRequest,
  budget: BodyBudget,
  takeFile: TakeFile,
): Promise<ReceivedBody> {
  if (request.formRead !== null) return { encoding: "form", value: request.formRead };
  if (!request.needsFormToken) return readBody(request, budget, takeFile);
  const body = await readBody(request, budget, async (file, before) => {
    assertFormToken(request, before);
    await takeFile(file, before);
  });
  if (body.encoding !== "form") throw crossSiteRefusal();
  assertFormToken(request, body.value as FormFields);
  return body;
}

async function readBody(request: FastifyRequest, budget: BodyBudget, takeFile: TakeFile): Promise<ReceivedBody> {
  const { raw } = request;
  const type = raw.headers["content-type"] ?? "";
  refuseContentEncoding(raw.headers["content-encoding"]);
  const share = new BudgetShare(budget, request.client.key);
  try {
    switch (mediaType(type)) {
      case "application/json":
        refuseCharset(type);
        return { encoding: "json", value: parseJson(await readWhole(raw, jsonBytesMax, share)) };
      case "":
      case "application/x-www-form-urlencoded":
        refuseCharset(type);
        return { encoding: "form", value: parseUrlencoded(await readWhole(raw, urlencodedBytesMax, share)) };
      case "multipart/form-data":
        return { encoding: "form", value: await receiveMultipart(raw, fieldBytesMax, share, takeFile) };
      default:
        throw new AppError("unsupported_media_type", "Send JSON, a multipart form or a urlencoded form.");
    }
  } finally {
    share.release();
  }
}

/** For pages: a form in either encoding, without files unless `takeFile` is given. @throws as `receiveBody`. */
export async function receiveForm(
  request: FastifyRequest,
  budget: BodyBudget,
  takeFile: TakeFile = refuseFiles,
): Promise<FormFields> {
  const body = await receiveBody(request, budget, takeFile);
  if (body.encoding !== "form") throw new AppError("unsupported_media_type", "Send a form.");
  return body.value as FormFields;
}

/**
 * Reads a whole body into memory, with its bytes in `share`.
 * @throws AppError too_large, unavailable (no room in the budget), invalid_request (cut off, too slow).
 */
async function readWhole(request: IncomingMessage, bytesMax: number, share: BudgetShare): Promise<Buffer> {
  const holdTo = (bytes: number) => {
    if (bytes > bytesMax) throw new AppError("too_large", `The body may have ${bytesMax} bytes.`);
    if (bytes > uncountedBytesMax && bytes > share.heldBytes) share.take(bytes - share.heldBytes);
  };
  holdTo(Number(request.headers["content-length"] ?? 0));
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const slow = setTimeout(() => finish(cutOff("The body took too long.")), wholeBodyMsMax);

    function onData(chunk: Buffer): void {
      bytes += chunk.length;
      try {
        holdTo(bytes);
        chunks.push(chunk);
      } catch (error) {
        finish(error);
      }
    }
    function onEnd(): void {
      finish(undefined);
    }
    function onClose(): void {
      finish(cutOff("The body was cut off."));
    }
    function finish(error: unknown): void {
      clearTimeout(slow);
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      if (error !== undefined) {
        request.pause();
        reject(error);
        return;
      }
      const [first] = chunks;
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes));
    }
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
    if (request.destroyed) onClose();
  });
}

function cutOff(message: string): AppError {
  return new AppError("invalid_request", message);
}

export function isMultipart(request: FastifyRequest): boolean {
  return mediaType(request.raw.headers["content-type"] ?? "") === "multipart/form-data";
}

function mediaType(contentType: string): string {
  if (contentType === "application/json") return contentType;
  const semicolon = contentType.indexOf(";");
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

function refuseCharset(contentType: string): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]?.toLowerCase();
  if (charset === undefined || charset === "utf-8" || charset === "utf8" || charset === "us-ascii") return;
  throw new AppError("unsupported_media_type", "Send the body in UTF-8.");
}

/** A compressed body could grow without bound when decompressed. */
function refuseContentEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity") return;
  throw new AppError("unsupported_media_type", "Send the body without compression.");
}
