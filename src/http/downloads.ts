import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { BlobMissingError } from "../blobs/blob-store.ts";
import type { Download, Pushes } from "../pushes/pushes.ts";
import type { Events } from "../telemetry/events.ts";
import { type ByteRange, parseRange, type RequestedRange, rangeWithin } from "./byte-range.ts";
import { attachment } from "./content-disposition.ts";

export interface DownloadDeps {
  readonly pushes: Pick<Pushes, "openTicket">;
  readonly events: Events;
}

const ticketPattern = /^[A-Za-z0-9_-]{1,1024}$/;
/** What lies behind one ticket never changes, so any constant tells versions apart (RFC 9110, 8.8.3). */
const entityTag = '"sealed"';
const aheadBytes = 256 * 1024;

/** Types that run nothing. All others, HTML and SVG above all, go out as plain bytes. */
const harmless =
  /^(?:image\/(?:png|jpeg|gif|webp|avif)|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|text\/plain|text\/csv|application\/(?:pdf|zip|gzip))$/;

/** @returns where a ticket can be redeemed. */
export function downloadUrl(baseUrl: string, ticket: string): string {
  return `${baseUrl}/files/${ticket}`;
}

/** `GET /files/:ticket`, public: the ticket is the authority. HEAD opens nothing and is not audited. */
export function registerDownloads(server: FastifyInstance, deps: DownloadDeps): void {
  server.route<{ Params: { ticket: string } }>({
    method: ["GET", "HEAD"],
    url: "/files/:ticket",
    config: { access: "public", changesState: false },
    handler: (request, reply) => answerDownload(request, reply, request.params.ticket, deps),
  });
}

async function answerDownload(
  request: FastifyRequest,
  reply: FastifyReply,
  ticket: string,
  deps: DownloadDeps,
): Promise<FastifyReply> {
  const requested = requestedRange(request);
  const isHead = request.raw.method === "HEAD";
  const download = await openDownload(deps, request, ticket, isHead);
  const range = rangeWithin(requested, download.sizeBytes);
  if (range === undefined) {
    return reply.code(416).header("content-range", `bytes */${download.sizeBytes}`).send();
  }
  const stream = isHead ? undefined : await verifiedStream(download, range, request, deps.events);
  describe(reply, download);
  reply.header("content-length", String(range.end - range.start + 1));
  if (requested.wanted !== "all") {
    reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${download.sizeBytes}`);
  }
  return reply.send(stream);
}

/**
 * Each request for bytes is audited as a download, a range too: else one that starts at the second byte would leave no
 * trace. A look at the headers is none.
 */
async function openDownload(
  deps: DownloadDeps,
  request: FastifyRequest,
  ticket: string,
  isLook: boolean,
): Promise<Download> {
  const start = isLook ? "look" : 0;
  const download = ticketPattern.test(ticket) ? await deps.pushes.openTicket(ticket, request.actor, start) : undefined;
  if (download === undefined) throw new AppError("not_found", "not-found");
  return download;
}

function requestedRange(request: FastifyRequest): RequestedRange {
  const { range, "if-range": ifRange } = request.raw.headers;
  return ifRange === undefined || ifRange === entityTag ? parseRange(range) : { wanted: "all" };
}

function describe(reply: FastifyReply, download: Download): void {
  const type = harmless.test(download.contentType) ? download.contentType : "application/octet-stream";
  reply.header("content-type", type);
  reply.header("content-disposition", attachment(download.filename));
  reply.header("accept-ranges", "bytes");
  reply.header("etag", entityTag);
}

/**
 * The first bytes are verified before the answer begins, so a broken file is an error and not a torn answer. One that
 * breaks later cuts the connection: its end must never look like a file's end.
 */
async function verifiedStream(
  download: Download,
  range: ByteRange,
  request: FastifyRequest,
  events: Events,
): Promise<Readable> {
  const bytes = download.read(range)[Symbol.asyncIterator]();
  const first = await firstOf(bytes, download, request, events);
  const content = first.done === true ? [] : resumed(first.value, bytes);
  const stream = Readable.from(content, { objectMode: false, highWaterMark: aheadBytes });
  stream.on("error", (error) => {
    if (!request.raw.destroyed) events.downloadBroken(request.id, error);
  });
  return stream;
}

/** A lost file is answered like one that is gone. Whoever keeps the server has to know which one it was. */
async function firstOf(
  bytes: AsyncIterator<Uint8Array>,
  { pushId, fileId }: Download,
  { id: requestId }: FastifyRequest,
  events: Events,
): Promise<IteratorResult<Uint8Array, unknown>> {
  try {
    return await bytes.next();
  } catch (error) {
    if (error instanceof AppError && error.cause instanceof BlobMissingError) {
      events.fileMissing({ requestId, pushId, fileId });
    }
    throw error;
  }
}

async function* resumed(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
