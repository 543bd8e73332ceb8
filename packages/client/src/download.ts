import { ClientError } from "./errors.ts";
import { errorOf, firstWaitMs, lostAnswer, secondsOf, type TransportOptions } from "./transport.ts";

/** A file of a retrieved push. */
export interface FileToDownload {
  readonly url: string;
  /** What opens a file of an end-to-end push. */
  readonly identity?: string;
  /** The bytes that it then has, as its sender has sealed them; undefined: there is no sealed list of the files. */
  readonly sizeBytes?: number;
}

/** How often a download may break, or be refused, without a byte in between. */
const fruitlessAttemptsMax = 3;

/** `server` is for messages: the address of a file may be on another host. */
export type DownloadOptions = Pick<TransportOptions, "server" | "wait" | "waitSecondsMax">;

/**
 * Reads a file as it arrives. No token is sent: the address authorizes the download. A refusal that passes is waited for: the
 * view is spent.
 * @throws ClientError invalid, unreachable, not_found, too_many_requests, unavailable.
 */
export async function* downloadChunks(
  { url }: FileToDownload,
  { server, wait, waitSecondsMax }: DownloadOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  assertFileAddress(url, server);
  let received = 0;
  let fruitless = 0;
  while (true) {
    const before = received;
    try {
      for await (const chunk of readFrom(url, received, signal)) {
        received += chunk.length;
        yield chunk;
      }
      return;
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      fruitless = received === before ? fruitless + 1 : 0;
      const waitMs = fruitless < fruitlessAttemptsMax ? waitMsAfter(error, fruitless, waitSecondsMax) : undefined;
      if (waitMs === undefined) throw error instanceof ClientError ? error : lostAnswer(server, error);
      if (waitMs > 0) await wait(waitMs, signal);
    }
  }
}

/** @returns undefined: another attempt would be in vain. */
function waitMsAfter(error: unknown, fruitless: number, waitSecondsMax: number): number | undefined {
  if (fruitless === 0) return 0;
  const backoffMs = firstWaitMs * 2 ** (fruitless - 1);
  if (!(error instanceof ClientError)) return backoffMs;
  const { status = 0, retryAfterSeconds = 0 } = error;
  const mayPass = [429, 502, 503, 504].includes(status) && retryAfterSeconds <= waitSecondsMax;
  return mayPass ? Math.max(backoffMs, retryAfterSeconds * 1_000) : undefined;
}

function assertFileAddress(url: string, server: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol === "https:" || (protocol === "http:" && server.startsWith("http:"))) return;
  throw new ClientError("not_this_api", "The server answered with an address of a file that cannot be downloaded.");
}

async function* readFrom(url: string, start: number, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const response = await fetch(url, {
    headers: start === 0 ? {} : { range: `bytes=${start}-` },
    credentials: "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    ...(signal === undefined ? {} : { signal }),
  });
  const reader = response.body?.getReader();
  try {
    const isExpected = start === 0 ? response.status === 200 : response.status === 200 || response.status === 206;
    if (!isExpected) {
      const retryAfterSeconds = secondsOf(response.headers.get("retry-after"));
      throw errorOf({ status: response.status, value: undefined }, "The file cannot be downloaded.", retryAfterSeconds);
    }
    // A server that ignores the range starts from the beginning.
    let skip = response.status === 206 ? 0 : start;
    for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
      const chunk = part.value.subarray(Math.min(skip, part.value.length));
      skip -= part.value.length - chunk.length;
      if (chunk.length > 0) yield chunk;
    }
  } finally {
    await reader?.cancel();
  }
}
