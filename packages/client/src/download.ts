import { ClientError } from "./errors.ts";
import { errorOf, lostAnswer } from "./transport.ts";

/** A file of a retrieved push. */
export interface FileToDownload {
  readonly url: string;
  /** What opens a file of an end-to-end push. */
  readonly identity?: string;
  /** The bytes that it then has, as its sender has sealed them; undefined: there is no sealed list of the files. */
  readonly sizeBytes?: number;
}

/** How often a download may break without a byte in between. */
const fruitlessAttemptsMax = 3;

/**
 * Reads a file as it arrives. No token is sent: the address authorizes the download.
 * @param server for messages; the address of a file may be on another host.
 * @throws ClientError invalid, unreachable, not_found, unavailable.
 */
export async function* downloadChunks(
  { url }: FileToDownload,
  server: string,
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
      if (error instanceof ClientError) throw error;
      if (signal?.aborted === true) throw signal.reason;
      fruitless = received === before ? fruitless + 1 : 0;
      if (fruitless >= fruitlessAttemptsMax) throw lostAnswer(server, error);
    }
  }
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
    if (!isExpected) throw errorOf({ status: response.status, value: undefined }, "The file cannot be downloaded.");
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
