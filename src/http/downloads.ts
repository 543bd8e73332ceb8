import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { viewableTypeOf } from "../base/viewable-type.ts";
import { zip, zipBytes, zipNames } from "../base/zip.ts";
import type { Download, Pushes } from "../pushes/pushes.ts";
import type { Events } from "../telemetry/events.ts";
import { reserveStream } from "./answers.ts";
import { reportStoredFile } from "./errors.ts";
import { attachment, inline } from "./headers.ts";

interface DownloadDeps {
  readonly pushes: Pick<Pushes, "openTicket">;
  readonly events: Events;
  readonly clock: Clock;
}

const ticketPattern = /^[A-Za-z0-9_-]{1,1024}$/;
/** The file of a ticket never changes, so all files share one constant ETag (RFC 9110, 8.8.3). */
const entityTag = '"sealed"';
const readAheadBytes = 256 * 1024;

/**
 * Types that cannot run code in a browser: pictures, sound, films, texts, archives, office documents. All others, above all HTML, SVG
 * and other XML, are sent as plain bytes.
 */
const inertTypes =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|heic|tiff|bmp)|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|text\/(?:plain|csv|markdown)|application\/(?:pdf|json|rtf|zip|gzip|x-7z-compressed|x-tar|msword|vnd\.[a-z0-9.-]+))$/;

/** The most files in one archive; so many tickets still fit into an address. */
const zippedFilesMax = 100;
const ticketSeparator = ".";

/** The address of a ticket's file. */
export function downloadUrl(baseUrl: string, ticket: string): string {
  return `${baseUrl}/files/${ticket}`;
}

/** The path of one archive of these files. @returns undefined: they are too many. */
export function zipPath(tickets: readonly string[]): string | undefined {
  return tickets.length > zippedFilesMax ? undefined : `/files/zip/${tickets.join(ticketSeparator)}`;
}

/**
 * `GET /files/:ticket` is public: the ticket authorizes the download. Each is audited, ranges too: otherwise a download from the
 * second byte on would leave no audit entry. HEAD reads no file and is not audited; a view has none, because its type depends on
 * the content.
 */
export function registerDownloads(server: FastifyInstance, deps: DownloadDeps): void {
  const config = { access: "public", group: "recipient", changesState: false } as const;
  server.route<{ Params: { ticket: string } }>({
    method: ["GET", "HEAD"],
    url: "/files/:ticket",
    config,
    handler: (request, reply) => answerDownload({ ...deps, request, reply }, request.params.ticket),
  });
  server.route<{ Params: { ticket: string } }>({
    method: "GET",
    url: "/files/:ticket/view",
    exposeHeadRoute: false,
    config,
    handler: (request, reply) => answerView({ ...deps, request, reply }, request.params.ticket),
  });
  server.route<{ Params: { tickets: string } }>({
    method: ["GET", "HEAD"],
    url: "/files/zip/:tickets",
    config,
    handler: (request, reply) => answerZip({ ...deps, request, reply }, request.params.tickets),
  });
}

interface Call extends DownloadDeps {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * The file in the browser, if its content is a picture or a text; any other one is saved. The policy of every answer that is
 * not a page puts it into a sandbox: an origin of its own, in which nothing runs or loads.
 */
async function answerView(call: Call, ticket: string): Promise<FastifyReply> {
  const { reply } = call;
  reserveStream(reply);
  const download = await openDownload(call, ticket);
  const { first, stream } = await verifiedStream(wholeOf(download), call);
  setHeaders(reply, download);
  reply.removeHeader("accept-ranges").removeHeader("etag");
  const type = viewableTypeOf(first);
  if (type !== undefined) {
    reply.header("content-type", type).header("content-disposition", inline(download.filename));
    // Browsers show no answer that has both a sandbox and an opener policy (HTML, "Navigating across documents").
    reply.header("cross-origin-opener-policy", "unsafe-none");
  }
  return reply.header("content-length", String(download.sizeBytes)).send(stream);
}

/** All files as one archive. If one of them breaks off, so does the archive, and its length says that it is not whole. */
async function answerZip(call: Call, tickets: string): Promise<FastifyReply> {
  const { request, reply, clock } = call;
  const isHead = request.raw.method === "HEAD";
  if (!isHead) reserveStream(reply);
  const downloads: Download[] = [];
  for (const ticket of ticketsOf(tickets)) downloads.push(await openDownload(call, ticket));
  const names = zipNames(downloads.map(({ filename }) => filename));
  const entries = downloads.map((download, index) => ({
    name: names[index] ?? "",
    sizeBytes: download.sizeBytes,
    read: () => wholeOf(download),
  }));
  const verified = isHead ? undefined : await verifiedStream(zip(entries, clock.now(), crc32), call);
  reply.header("content-type", "application/zip").header("content-disposition", attachment("files.zip"));
  return reply.header("content-length", String(zipBytes(entries))).send(verified?.stream);
}

function ticketsOf(joined: string): readonly string[] {
  const tickets = joined.split(ticketSeparator, zippedFilesMax + 1);
  if (tickets.length > zippedFilesMax) throw new AppError("not_found", "not-found");
  return tickets;
}

function wholeOf(download: Download): AsyncIterable<Uint8Array> {
  return download.read({ start: 0, end: download.sizeBytes - 1 });
}

async function answerDownload(call: Call, ticket: string): Promise<FastifyReply> {
  const { request, reply } = call;
  const requested = requestedRange(request);
  const isHead = request.raw.method === "HEAD";
  if (!isHead) reserveStream(reply);
  const download = await openDownload(call, ticket);
  const range = rangeWithin(requested, download.sizeBytes);
  if (range === undefined) {
    return reply.code(416).header("content-range", `bytes */${download.sizeBytes}`).send();
  }
  const verified = isHead ? undefined : await verifiedStream(download.read(range), call);
  setHeaders(reply, download);
  reply.header("content-length", String(range.end - range.start + 1));
  if (requested.wanted !== "all") {
    reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${download.sizeBytes}`);
  }
  return reply.send(verified?.stream);
}

async function openDownload({ pushes, request }: Call, ticket: string): Promise<Download> {
  const download = ticketPattern.test(ticket) ? await pushes.openTicket(ticket, request.actor) : undefined;
  if (download === undefined) throw new AppError("not_found", "not-found");
  return download;
}

function requestedRange(request: FastifyRequest): RequestedRange {
  const { range, "if-range": ifRange } = request.raw.headers;
  return ifRange === undefined || ifRange === entityTag ? parseRange(range) : { wanted: "all" };
}

function setHeaders(reply: FastifyReply, download: Download): void {
  const type = inertTypes.test(download.contentType) ? download.contentType : "application/octet-stream";
  reply.header("content-type", type);
  reply.header("content-disposition", attachment(download.filename));
  reply.header("accept-ranges", "bytes");
  reply.header("etag", entityTag);
}

/**
 * The first bytes are verified before the answer begins, so that a damaged file is an error and not a truncated answer.
 * Damage found later cuts the connection: the client must not mistake the truncated part for the whole file.
 */
async function verifiedStream(content: AsyncIterable<Uint8Array>, { request, events }: Call) {
  const bytes = content[Symbol.asyncIterator]();
  const first = await bytes.next();
  const pieces = first.done === true ? [] : withFirst(first, bytes);
  const stream = Readable.from(pieces, { objectMode: false, highWaterMark: readAheadBytes });
  stream.on("error", (error) => {
    if (request.raw.destroyed) return;
    reportStoredFile(error, request, events);
    events.downloadBroken(request.id, error);
  });
  return { first: first.done === true ? Buffer.alloc(0) : first.value, stream };
}

/** This is no generator: one that is closed before it begins would leave `rest`, and with it the file, open. */
function withFirst(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  let pending: IteratorResult<Uint8Array> | undefined = first;
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const next = pending ?? (await rest.next());
      pending = undefined;
      return next;
    },
    async return() {
      await rest.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Inclusive at both ends. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

type RequestedRange =
  /** No range, or one that may be ignored (RFC 9110, 14.2): several ranges, another range unit, malformed. */
  | { readonly wanted: "all" }
  | { readonly wanted: "from"; readonly start: number; readonly end: number | undefined }
  | { readonly wanted: "last"; readonly bytes: number };

function parseRange(header: string | undefined): RequestedRange {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(" ", "") ?? "");
  const [first, last] = [match?.[1] ?? "", match?.[2] ?? ""];
  if (first === "") return last === "" ? { wanted: "all" } : { wanted: "last", bytes: Number(last) };
  const start = Number(first);
  const end = last === "" ? undefined : Number(last);
  return end !== undefined && end < start ? { wanted: "all" } : { wanted: "from", start, end };
}

/** @returns undefined when the range has no byte of the file (416). */
function rangeWithin(requested: RequestedRange, sizeBytes: number): ByteRange | undefined {
  const last = sizeBytes - 1;
  switch (requested.wanted) {
    case "all":
      return { start: 0, end: last };
    case "from":
      return requested.start > last
        ? undefined
        : { start: requested.start, end: Math.min(requested.end ?? last, last) };
    case "last":
      return requested.bytes === 0 || sizeBytes === 0
        ? undefined
        : { start: Math.max(0, sizeBytes - requested.bytes), end: last };
  }
}
