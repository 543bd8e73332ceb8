import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { authorization } from "../../../src/blobs/s3/signature.ts";
import { type FaultPlan, faultOf } from "./faults.ts";
import { type Arrived, type Reply, refuse, xml } from "./replies.ts";

/** An object store in this process that checks signatures, digests and sizes of parts. */
export interface ObjectStore {
  readonly endpoint: string;
  /** Path in the bucket -> bytes. */
  readonly objects: Map<string, Buffer>;
  /** Upload id -> running multipart upload. */
  readonly uploads: Map<string, UnfinishedUpload>;
  /** Received operations in order, including those that failed. */
  readonly operations: readonly string[];
  /** The raw bytes of all requests, as on the network. */
  readonly seen: readonly string[];
  /** Sets the faults of later requests. */
  plan: FaultPlan;
  close(): Promise<void>;
}

interface UnfinishedUpload {
  readonly path: string;
  readonly parts: Map<number, Buffer>;
}

export const bucket = "sealed-files";
export const region = "eu-test-1";
export const credentials = { accessKeyId: "ACCESSKEYOFTHETEST", secretAccessKey: "secret/key+of=the.test" };

/** Settings of a server that stores its files there. */
export const environmentOf = (store: Pick<ObjectStore, "endpoint">): Readonly<Record<string, string>> => ({
  PWP__FILES__STORAGE: "s3",
  PWP__FILES__S3__ENDPOINT: store.endpoint,
  PWP__FILES__S3__BUCKET: bucket,
  PWP__FILES__S3__REGION: region,
  PWP__FILES__S3__ACCESS_KEY_ID: credentials.accessKeyId,
  PWP__FILES__S3__SECRET_ACCESS_KEY: credentials.secretAccessKey,
});

const pieceBytes = 10_000;
const partBytesMin = 5 * 1024 ** 2;

/** It is closed at the latest after the test. */
export function startObjectStore(): Promise<ObjectStore> {
  return launchObjectStore(onTestFinished);
}

/** @param atTheEnd registers the function that closes the store. */
export async function launchObjectStore(atTheEnd: (end: () => Promise<void>) => void): Promise<ObjectStore> {
  const store = new MemoryStore();
  const server = createServer((request, response) => {
    store
      .answer(request, response)
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atTheEnd(close);
  return Object.assign(store, { endpoint: `http://127.0.0.1:${port}`, close });
}

class MemoryStore {
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, UnfinishedUpload>();
  readonly operations: string[] = [];
  readonly seen: string[] = [];
  plan: FaultPlan = () => undefined;
  #uploadsMade = 0;

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://store");
    const operation = operationOf(request.method ?? "", pathname, searchParams);
    this.operations.push(operation);
    this.seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    const path = pathname.slice(`/${bucket}/`.length);
    const fault = this.plan({ operation, path, query: searchParams });
    if (fault === "reset") return await send("reset", response);
    const body = await bytesOf(request);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const arrived = { operation, path, query: searchParams, headers, body };
    const refused = refusedFor(request, pathname, arrived);
    await send(
      faultOf(fault, () => refused ?? this.#do(arrived)),
      response,
    );
  }

  #do(arrived: Arrived): Reply {
    const { operation, path, query, body } = arrived;
    const upload = this.uploads.get(query.get("uploadId") ?? "");
    switch (operation) {
      case "PutObject":
        this.objects.set(path, body);
        return { status: 200, headers: { etag: `"${md5(body)}"` } };
      case "GetObject":
        return getObject(this.objects.get(path), arrived.headers);
      case "HeadObject":
        return this.#head(path);
      case "DeleteObject":
        this.objects.delete(path);
        return { status: 204 };
      case "CreateMultipartUpload":
        return this.#create(path);
      case "ListMultipartUploads":
        return this.#list(query.get("prefix") ?? "");
      default:
        if (upload === undefined || upload.path !== path) return refuse(404, "NoSuchUpload");
        return this.#doUpload(arrived, upload);
    }
  }

  #doUpload({ operation, query, body }: Arrived, upload: UnfinishedUpload): Reply {
    const uploadId = query.get("uploadId") ?? "";
    switch (operation) {
      case "UploadPart":
        upload.parts.set(Number(query.get("partNumber")), body);
        return { status: 200, headers: { etag: `"${md5(body)}"` } };
      case "AbortMultipartUpload":
        this.uploads.delete(uploadId);
        return { status: 204 };
      case "CompleteMultipartUpload":
        return this.#complete(uploadId, upload, body.toString());
      default:
        return refuse(405, "MethodNotAllowed");
    }
  }

  #head(path: string): Reply {
    const object = this.objects.get(path);
    if (object === undefined) return { status: 404 };
    return { status: 200, headers: { "content-length": String(object.length), etag: `"${md5(object)}"` } };
  }

  #create(path: string): Reply {
    this.#uploadsMade += 1;
    const uploadId = `upload/${this.#uploadsMade}+&=`;
    this.uploads.set(uploadId, { path, parts: new Map() });
    return xml(
      200,
      `<InitiateMultipartUploadResult><UploadId>${escaped(uploadId)}</UploadId></InitiateMultipartUploadResult>`,
    );
  }

  #list(prefix: string): Reply {
    const found = [...this.uploads].filter(([, { path }]) => path.startsWith(prefix));
    const entries = found.map(
      ([id, { path }]) => `<Upload><Key>${path}</Key><UploadId>${escaped(id)}</UploadId></Upload>`,
    );
    return xml(200, `<ListMultipartUploadsResult>${entries.join("")}</ListMultipartUploadsResult>`);
  }

  #complete(uploadId: string, upload: UnfinishedUpload, body: string): Reply {
    const named = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)];
    const parts = named.map(([, number]) => upload.parts.get(Number(number)) ?? Buffer.alloc(0));
    const digests = parts.map(md5);
    const right = named.every(([, , tag], index) => tag?.replaceAll("&#34;", "") === digests[index]);
    // Parts that are not named are dropped, as S3 does.
    if (!right || parts.length === 0) return refuse(400, "InvalidPart");
    if (parts.slice(0, -1).some((part) => part.length < partBytesMin)) return refuse(400, "EntityTooSmall");
    // Cloudflare R2 requires parts of equal size.
    if (parts.slice(0, -1).some((part) => part.length !== parts[0]?.length)) return refuse(400, "InvalidPart");
    this.objects.set(upload.path, Buffer.concat(parts));
    this.uploads.delete(uploadId);
    const tag = `${md5(Buffer.from(digests.join(""), "hex"))}-${parts.length}`;
    return xml(200, `<CompleteMultipartUploadResult><ETag>&quot;${tag}&quot;</ETag></CompleteMultipartUploadResult>`);
  }
}

function operationOf(method: string, pathname: string, query: URLSearchParams): string {
  const ofBucket = pathname === `/${bucket}`;
  if (ofBucket) return method === "GET" && query.has("uploads") ? "ListMultipartUploads" : `${method} bucket`;
  const uploading = query.has("uploadId");
  switch (method) {
    case "PUT":
      return uploading ? "UploadPart" : "PutObject";
    case "POST":
      return uploading ? "CompleteMultipartUpload" : "CreateMultipartUpload";
    case "DELETE":
      return uploading ? "AbortMultipartUpload" : "DeleteObject";
    case "HEAD":
      return "HeadObject";
    default:
      return "GetObject";
  }
}

function getObject(object: Buffer | undefined, headers: Readonly<Record<string, string>>): Reply {
  if (object === undefined) return refuse(404, "NoSuchKey");
  const tag = `"${md5(object)}"`;
  if ((headers["if-match"] ?? tag) !== tag) return refuse(412, "PreconditionFailed");
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
  const [start, end] = [Number(first), Math.min(Number(last), object.length - 1)];
  if (!(start <= end)) return refuse(416, "InvalidRange");
  const range = { "content-range": `bytes ${start}-${end}/${object.length}`, etag: tag };
  return { status: 206, headers: range, body: object.subarray(start, end + 1) };
}

/** Refuses another bucket, a wrong signature, and a body that does not match its digest. */
function refusedFor(request: IncomingMessage, pathname: string, { headers, query, body }: Arrived): Reply | undefined {
  if (pathname.split("/")[1] !== bucket) return refuse(404, "NoSuchBucket");
  const sent = headers.authorization ?? "";
  const [, names = ""] = /SignedHeaders=([^,]+),/.exec(sent) ?? [];
  const signed = Object.fromEntries(names.split(";").map((name) => [name, headers[name] ?? ""]));
  const toSign = {
    method: request.method ?? "",
    path: pathname,
    query: Object.fromEntries(query),
    headers: signed,
    payloadSha256: headers["x-amz-content-sha256"] ?? "",
  };
  if (sent !== authorization(toSign, { region, service: "s3" }, credentials))
    return refuse(403, "SignatureDoesNotMatch");
  const digest = (algorithm: string) => createHash(algorithm).update(body);
  if (digest("sha256").digest("hex") !== headers["x-amz-content-sha256"])
    return refuse(400, "XAmzContentSHA256Mismatch");
  const declared = headers["content-md5"];
  if (body.length > 0 && declared !== digest("md5").digest("base64")) return refuse(400, "BadDigest");
  return undefined;
}

async function send(reply: Reply | "silence" | "reset", response: ServerResponse): Promise<void> {
  if (reply === "silence") return;
  if (reply === "reset") {
    response.destroy();
    return;
  }
  const { status, headers = {}, body = Buffer.alloc(0), ends = "well" } = reply;
  const announced = { ...headers, ...(ends === "unannounced" ? {} : { "content-length": String(body.length) }) };
  response.writeHead(status, { ...announced, ...headers });
  if (ends === "slowly") {
    for (let at = 0; at < body.length && !response.destroyed; at += pieceBytes) {
      response.write(body.subarray(at, at + pieceBytes));
      await new Promise(setImmediate);
    }
    response.end();
    return;
  }
  const sent = ends === "well" ? body : body.subarray(0, body.length >> 1);
  if (ends === "cut") response.write(sent, () => response.socket?.destroySoon());
  else response.end(sent);
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

const escaped = (text: string) => text.replaceAll("&", "&amp;");
const md5 = (bytes: Buffer) => createHash("md5").update(bytes).digest("hex");
