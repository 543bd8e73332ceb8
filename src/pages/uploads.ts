import { AppError } from "../base/errors.ts";
import { BodyChunks } from "../http/body/body-chunks.ts";
import { typeOfFile } from "../http/body/file-type.ts";
import { refuseCompression } from "../http/body/receive-body.ts";
import { discardBody } from "../http/discard-body.ts";
import type { PageHandler, PageRequest, PageRoute, Reply } from "./request.ts";

/**
 * Files that a page's script sends in several requests, by tus 1.0.0 (https://tus.io/protocols/resumable-upload) with its
 * extensions creation, expiration and termination. The form of the push then names the uploads. An offset that the
 * server acknowledges may be smaller than what was sent: it is a multiple of 64 KiB, or the end.
 */

export const uploadsPath = "/uploads";
const version = "1.0.0";
/** A client may hold more, however large the parts are that the store needs. */
const heldBytesMax = 24 * 1024 ** 2;
const partType = "application/offset+octet-stream";

/** @throws AppError invalid_request: a header with a number is missing or has no number. */
function numberIn(page: PageRequest, name: "upload-length" | "upload-offset"): number {
  const value = String(page.request.headers[name] ?? "");
  if (!/^\d{1,15}$/.test(value)) throw new AppError("invalid_request", `The header ${name} must be a number of bytes.`);
  return Number(value);
}

/** Name and type in the header of key and value pairs, each value in base64. */
function detailsIn({ request }: PageRequest) {
  const pairs = String(request.headers["upload-metadata"] ?? "").split(",");
  const metadata = new Map(
    pairs.map((pair) => {
      const [key = "", value = ""] = pair.trim().split(" ", 2);
      return [key, value] as const;
    }),
  );
  const text = (key: string) => Buffer.from(metadata.get(key) ?? "", "base64").toString("utf8");
  const filename = text("filename");
  return { filename, contentType: typeOfFile(filename, text("filetype")) };
}

/** Answers without reading the body, if there is one. */
function answer({ request, reply }: PageRequest, status: number): Reply {
  discardBody(request.raw, reply.raw);
  return reply.code(status).header("cache-control", "no-store").send();
}

function setExpiry(page: PageRequest, expiresAt: number): void {
  page.reply.header("upload-expires", new Date(expiresAt).toUTCString());
}

/** For clients of this version of the protocol only. */
function tus(handler: PageHandler): PageHandler {
  return (page) => {
    page.reply.header("tus-resumable", version);
    if (page.request.headers["tus-resumable"] === version) return handler(page);
    page.reply.header("tus-version", version);
    return answer(page, 412);
  };
}

function describeServer(page: PageRequest): Reply {
  page.reply.header("tus-version", version);
  page.reply.header("tus-extension", "creation,expiration,termination");
  page.reply.header("tus-max-size", String(page.services.config.files.pushBytesMax));
  return answer(page, 204);
}

async function openUpload(page: PageRequest): Promise<Reply> {
  const file = { ...detailsIn(page), sizeBytes: numberIn(page, "upload-length") };
  const { address, expiresAt } = await page.services.pushes.openUpload(file, page.actor);
  setExpiry(page, expiresAt);
  page.reply.header("location", `${uploadsPath}/${address}`);
  return answer(page, 201);
}

async function findUpload(page: PageRequest): Promise<Reply> {
  const upload = await page.services.pushes.findUpload(page.uploadAddress ?? "", page.actor);
  if (upload === undefined) return answer(page, 404);
  setExpiry(page, upload.expiresAt);
  page.reply.header("upload-offset", String(upload.receivedBytes));
  page.reply.header("upload-length", String(upload.sizeBytes));
  return answer(page, 200);
}

async function receivePart(page: PageRequest): Promise<Reply> {
  const { request, services } = page;
  refuseCompression(request.raw);
  if (request.headers["content-type"] !== partType) {
    throw new AppError("unsupported_media_type", `Send the part as ${partType}.`);
  }
  const offset = numberIn(page, "upload-offset");
  const content = new BodyChunks(request.raw, services.bodyIntake.turns, undefined);
  const hold = services.bodyIntake.hold(request.client.key);
  request.bodyHold = hold;
  const held = hold.passing(content, Math.min(services.pushes.uploadBufferBytes, heldBytesMax));
  const received = await services.pushes
    .receiveUpload(page.uploadAddress ?? "", offset, held, page.actor)
    .finally(() => content.return());
  switch (received.outcome) {
    case "received":
      setExpiry(page, received.expiresAt);
      page.reply.header("upload-offset", String(received.receivedBytes));
      return answer(page, 204);
    case "busy":
      page.retryAfter(received.retryAfterSeconds);
      return answer(page, 423);
    case "other_offset":
      page.reply.header("upload-offset", String(received.receivedBytes));
      return answer(page, 409);
    case "unknown":
      return answer(page, 404);
  }
}

async function discardUpload(page: PageRequest): Promise<Reply> {
  const isDiscarded = await page.services.pushes.discardUpload(page.uploadAddress ?? "", page.actor);
  return answer(page, isDiscarded ? 204 : 404);
}

const upload = {
  group: "internal",
  access: "page_creator",
  isEnabled: ({ kinds }) => kinds.file.enabled,
} as const satisfies Partial<PageRoute>;

export const uploadRoutes: readonly PageRoute[] = [
  { ...upload, method: "OPTIONS", path: uploadsPath, handler: describeServer },
  { ...upload, method: "POST", path: uploadsPath, handler: tus(openUpload) },
  { ...upload, method: "HEAD", path: `${uploadsPath}/:upload`, handler: tus(findUpload) },
  { ...upload, method: "PATCH", path: `${uploadsPath}/:upload`, handler: tus(receivePart) },
  { ...upload, method: "DELETE", path: `${uploadsPath}/:upload`, handler: tus(discardUpload) },
];
