import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { errorCode } from "../../base/errors.ts";
import type { Random } from "../../base/random.ts";
import { type Content, noContent } from "./content.ts";
import { chunksOf, createExchange, type Waiting } from "./exchange.ts";
import { brokenAnswer, noAnswer, refusal, S3Error } from "./s3-error.ts";
import { amzDate, authorization, type Credentials, encodeQuery, percentEncode } from "./signature.ts";
import { textOf } from "./xml.ts";

export interface BucketSettings extends Credentials {
  /** Absolute, http or https, without query. Its path precedes the bucket and all keys. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** false: the bucket is part of the host name. */
  readonly pathStyle: boolean;
}

export interface BucketDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Resolves after `ms`; never rejects. */
  readonly pause: (ms: number) => Promise<void>;
}

export interface Patience extends Waiting {
  readonly attemptsMax: number;
  /** No retry begins after this time. */
  readonly retryMs: number;
}

/**
 * With the pauses in between, four attempts take about two seconds if the store answers with errors. If it is silent, there
 * are two attempts, then one to clean up. Together they take less than the 75 seconds after which the server closes an idle
 * connection, so the client gets an answer.
 */
export const defaultPatience: Patience = { connectMs: 5_000, silenceMs: 20_000, attemptsMax: 4, retryMs: 25_000 };

export interface Operation {
  /** The name in S3's API reference. */
  readonly name: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE" | "HEAD";
  /** The path in the bucket; undefined: the bucket itself. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: Content;
  /** Statuses other than 200 that are not errors. */
  readonly expected?: readonly number[];
  /** Ends the operation and its retries. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the number of attempts. */
  readonly attemptsMax?: number;
}

const answerBytesMax = 4 * 1024 ** 2;
const pauseFirstMs = 250;
const pauseMaxMs = 5_000;
const neverAborted = new AbortController().signal;

export type Bucket = ReturnType<typeof createBucket>;

/** A bucket of an S3-compatible store, accessed with signed requests. */
export function createBucket(settings: BucketSettings, deps: BucketDeps, patience: Patience) {
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
      // It is not signed, because some proxies replace it.
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
      // Errors of the system and the parser have a code; an error without one is a bug.
      throw error instanceof S3Error || errorCode(error) === undefined ? error : noAnswer(name, error);
    }
  }

  return {
    /**
     * Retries temporary failures with growing pauses. Each operation must be idempotent, because the response to an earlier
     * attempt may have been lost. @param read its errors count as the operation's. @throws S3Error.
     */
    async call<T>(operation: Operation, read: (answer: Answer) => Promise<T>): Promise<T> {
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

/** Doubles with each attempt; half of it is random, so that clients that failed together do not retry together. */
function pauseMs(attempts: number, random: Random): number {
  const whole = Math.min(pauseFirstMs * 2 ** (attempts - 1), pauseMaxMs);
  const share = random.bytes(4).readUInt32BE() / 2 ** 32;
  return (whole * (1 + share)) / 2;
}

/** The common prefix of the addresses of all objects. */
export function bucketUrl(settings: Pick<BucketSettings, "endpoint" | "bucket" | "pathStyle">): URL {
  const { endpoint, bucket, pathStyle } = settings;
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

export type Answer = ReturnType<typeof answerOf>;

function answerOf(response: IncomingMessage, patience: Patience) {
  return {
    status: response.statusCode ?? 0,
    header(name: string): string | undefined {
      const value = response.headers[name];
      return typeof value === "string" ? value : undefined;
    },
    /** The body. It must be read or cut, or the connection stays in use. */
    chunks: chunksOf(response, patience),
    /** Ends the response and closes its connection. */
    cut: () => void response.destroy(),
  };
}

/** Reads a small body as text. @throws S3Error when it is too long. */
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
