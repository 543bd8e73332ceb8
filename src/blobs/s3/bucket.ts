import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { type Content, noContent } from "./content.ts";
import { chunksOf, createExchange, type Waiting } from "./exchange.ts";
import { brokenAnswer, noAnswer, refusal, S3Error } from "./s3-error.ts";
import { amzDate, authorization, type Credentials, encodeQuery, percentEncode } from "./signature.ts";
import { textOf } from "./xml.ts";

export interface BucketSettings extends Credentials {
  /** Absolute, http or https, without query; a path stands before everything. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** false: the bucket is a part of the host's name. */
  readonly pathStyle: boolean;
}

export interface BucketDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Resolves after `ms`; rejects never. */
  readonly pause: (ms: number) => Promise<void>;
}

export interface Patience extends Waiting {
  readonly attemptsMax: number;
  /** After so long an operation is not begun once more. */
  readonly retryMs: number;
}

/**
 * With the pauses between them, four tries take about two seconds of a store that answers with errors. Of a store that is
 * silent there are two, and then one to take back what was sent: together less than the 75 seconds after which the
 * server cuts a connection on which nothing moves. Who waits gets an answer.
 */
export const defaultPatience: Patience = { connectMs: 5_000, silenceMs: 20_000, attemptsMax: 4, retryMs: 25_000 };

export interface Operation {
  /** As S3's reference calls it. */
  readonly name: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE" | "HEAD";
  /** In the bucket; undefined: the bucket itself. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: Content;
  /** Statuses beside 200 that are no refusal. */
  readonly expected?: readonly number[];
  /** Ends the operation and its retries. */
  readonly signal?: AbortSignal;
  /** Overrides how often it is tried. */
  readonly attemptsMax?: number;
}

export interface Answer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body. It is read, or cut: else the connection stays taken. */
  readonly chunks: AsyncGenerator<Buffer, void, undefined>;
  /** Ends the answer where it is, with its connection. */
  cut(): void;
}

/** A bucket of an S3-compatible store, spoken to with signed requests. */
export interface Bucket {
  /**
   * Repeats what may pass, with growing pauses, so that each operation must be harmless when it is done twice: the answer
   * to the first may have been lost. @param read its errors count as the operation's. @throws S3Error.
   */
  call<T>(operation: Operation, read: (answer: Answer) => Promise<T>): Promise<T>;
}

const answerBytesMax = 4 * 1024 ** 2;
const pauseFirstMs = 250;
const pauseMaxMs = 5_000;
const neverAborted = new AbortController().signal;

export function createBucket(settings: BucketSettings, deps: BucketDeps, patience: Patience): Bucket {
  const base = bucketUrl(settings);
  const exchange = createExchange(base, patience);

  async function attempt<T>(operation: Operation, read: (answer: Answer) => Promise<T>): Promise<T> {
    const { name, method, query = {}, content = noContent, signal = neverAborted, expected = [] } = operation;
    const path = pathOf(base, operation.path);
    const { host } = base;
    const headers = {
      ...operation.headers,
      ...(content.bytes > 0 ? { "content-md5": Buffer.from(content.md5, "hex").toString("base64") } : {}),
      host,
      "x-amz-content-sha256": content.sha256,
      "x-amz-date": amzDate(deps.clock.now()),
    };
    const toSign = { method, path, query, headers, payloadSha256: content.sha256 };
    const sent = {
      ...headers,
      // Counted here, so it is left out of what is signed: some proxies set it anew.
      ...(method === "PUT" || method === "POST" ? { "content-length": String(content.bytes) } : {}),
      authorization: authorization(toSign, { region: settings.region, service: "s3" }, settings),
    };
    const search = encodeQuery(query);
    try {
      const target = search === "" ? path : `${path}?${search}`;
      const response = await exchange({ method, path: target, headers: sent, body: content.blocks, signal });
      const answer = answerOf(response, patience);
      if (answer.status === 200 || expected.includes(answer.status)) return await read(answer);
      throw refusal(name, answer.status, textOf(await textBody(name, answer), "Code"));
    } catch (error) {
      throw error instanceof S3Error || !isSystemError(error) ? error : noAnswer(name, error);
    }
  }

  return {
    async call(operation, read) {
      const attemptsMax = operation.attemptsMax ?? patience.attemptsMax;
      const retriesEndAt = deps.clock.now() + patience.retryMs;
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await attempt(operation, read);
        } catch (error) {
          const passes = error instanceof S3Error && error.passing && operation.signal?.aborted !== true;
          if (!passes || attempts >= attemptsMax || deps.clock.now() >= retriesEndAt) throw error;
          await deps.pause(pauseMs(attempts, deps.random));
        }
      }
    },
  };
}

/** Doubles with each try; half of it is chance, so that those who failed together do not come back together. */
function pauseMs(attempts: number, random: Random): number {
  const whole = Math.min(pauseFirstMs * 2 ** (attempts - 1), pauseMaxMs);
  const share = random.bytes(4).readUInt32BE() / 2 ** 32;
  return (whole * (1 + share)) / 2;
}

/** What the addresses of all objects begin with. */
export function bucketUrl({
  endpoint,
  bucket,
  pathStyle,
}: Pick<BucketSettings, "endpoint" | "bucket" | "pathStyle">): URL {
  const base = new URL(endpoint);
  const prefix = base.pathname.replace(/\/+$/, "");
  if (pathStyle) base.pathname = `${prefix}/${bucket}`;
  else {
    base.hostname = `${bucket}.${base.hostname}`;
    base.pathname = prefix;
  }
  return base;
}

function pathOf(base: URL, path: string | undefined): string {
  const bucketPath = base.pathname.replace(/\/+$/, "");
  if (path === undefined) return bucketPath === "" ? "/" : bucketPath;
  return `${bucketPath}/${path.split("/").map(percentEncode).join("/")}`;
}

function answerOf(response: IncomingMessage, patience: Patience): Answer {
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name];
      return typeof value === "string" ? value : undefined;
    },
    chunks: chunksOf(response, patience),
    cut: () => void response.destroy(),
  };
}

/** The system's errors and the parser's have a code; what has none is a bug of ours. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}

/** A small answer as text. @throws S3Error when it is not small. */
export async function textBody(operation: string, answer: Answer): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.chunks) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw brokenAnswer(operation, "is too long");
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString("utf8");
}
