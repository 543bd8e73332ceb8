import { request as httpRequest, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";

export const connectionClosed = 0;

interface Sending {
  /** In addition to the body's own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly stop?: AbortSignal;
}

/** @returns the status; `connectionClosed`: the server has cut the connection, which it does to a refused client that goes on sending. */
export function sendBody(origin: string, body: LargestBody, { headers, stop }: Sending = {}): Promise<number> {
  const { hostname, port } = new URL(origin);
  const request = httpRequest({
    host: hostname,
    port,
    method: body.method,
    path: body.path,
    headers: { ...body.headers, ...headers, "transfer-encoding": "chunked" },
    ...(stop && { signal: stop }),
  });
  return new Promise((resolve, reject) => {
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET" || error.code === "EPIPE") resolve(connectionClosed);
      else reject(error);
    });
    request.on("response", (response: IncomingMessage) => {
      response
        .on("error", reject)
        .resume()
        .on("end", () => resolve(response.statusCode ?? 0));
    });
    Readable.from(body.chunks()).pipe(request);
  });
}

/** One request with a body as large as the server accepts, of bytes that are expensive to read. */
export interface LargestBody {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether strangers can send it. */
  readonly isOpen: boolean;
  /** "read": any that does not refuse the request before its body is read; "any": any but a failure. */
  readonly expected: number | "read" | "any";
  chunks(): Iterable<Buffer>;
}
