import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Readable } from "node:stream";

export interface Waiting {
  /** For opening a connection, including TLS. */
  readonly connectMs: number;
  /** For the next byte, in either direction. */
  readonly silenceMs: number;
}

export interface HttpRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal;
}

/** Sends one request and returns the response head. It follows no redirect. Rejects with the system's or the signal's error. */
export type Exchange = (request: HttpRequest) => Promise<IncomingMessage>;

class SilenceError extends Error {
  override readonly name = "SilenceError";
  readonly code = "ETIMEDOUT";
}

/** Connections stay open between requests; idle ones do not keep the process alive. */
export function createExchange(origin: URL, waiting: Waiting): Exchange {
  const secure = origin.protocol === "https:";
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const send = secure ? httpsRequest : httpRequest;
  return ({ method, path, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const request = send({ ...addressOf(origin), agent, method, path, headers, signal });
      const giveUp = () => request.destroy(new SilenceError("The store is silent."));
      request.on("socket", (socket) => {
        if (!socket.connecting) return;
        const patience = setTimeout(giveUp, waiting.connectMs);
        const done = () => clearTimeout(patience);
        socket.once(secure ? "secureConnect" : "connect", done).once("close", done);
      });
      request.setTimeout(waiting.silenceMs, giveUp);
      request.on("error", reject);
      request.on("response", (response) => {
        // From here on `chunksOf` enforces the timeout, only while the next byte is requested: readers may be slow.
        request.setTimeout(0);
        // A store may refuse before it has read the whole request, and then never reads the rest.
        response.once("end", () => {
          if (!request.writableFinished) request.destroy();
        });
        resolve(response);
      });
      if (body.length === 0) request.end();
      else Readable.from(body).pipe(request);
    });
}

function addressOf(origin: URL): { readonly host: string; readonly port?: number } {
  const host = origin.hostname.replace(/^\[|\]$/g, "");
  return origin.port === "" ? { host } : { host, port: Number(origin.port) };
}

/** The response body. After the last read the response is finished; a body that was not read to its end is cut. */
export async function* chunksOf(response: IncomingMessage, waiting: Waiting): AsyncGenerator<Buffer, void, undefined> {
  const chunks: AsyncIterator<unknown> = response[Symbol.asyncIterator]();
  try {
    for (;;) {
      const patience = setTimeout(() => response.destroy(new SilenceError("The store is silent.")), waiting.silenceMs);
      const next = await chunks.next().finally(() => clearTimeout(patience));
      if (next.done === true) return;
      if (Buffer.isBuffer(next.value)) yield next.value;
    }
  } finally {
    response.destroy();
  }
}
