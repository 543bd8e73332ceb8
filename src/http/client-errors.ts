import type { ServerResponse as HttpResponse, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { baseHeaders, jsonType } from "./headers.ts";
import { ServerResponse } from "./node-http.ts";

interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** Node's error code for headers or a request that took too long. */
const timeoutCode = "ERR_HTTP_REQUEST_TIMEOUT";

const malformed: Answer = { status: 400, reason: "Bad Request", message: "The request is not valid HTTP." };

const answers: ReadonlyMap<string, Answer> = new Map([
  [
    "HPE_INVALID_URL",
    { ...malformed, message: "Percent-encode non-ASCII characters in the URL (RFC 3986, section 2.1)." },
  ],
  [
    "HPE_HEADER_OVERFLOW",
    { status: 431, reason: "Request Header Fields Too Large", message: "The headers are too large." },
  ],
  [
    "HPE_CHUNK_EXTENSIONS_OVERFLOW",
    { status: 413, reason: "Content Too Large", message: "The chunk extensions are too large." },
  ],
  [timeoutCode, { status: 408, reason: "Request Timeout", message: "The request took too long." }],
]);

/** How long a refused client that is still sending may read its answer: closing at once would discard it. */
const lingerMs = 1_000;

/**
 * Answers requests that the HTTP parser refuses. They never reach a handler, so the answer is written to the socket, which
 * is then closed.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (socket.destroyed || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  if (!socket.writable || isAnswering(socket)) {
    socket.destroy(error);
    return;
  }
  const isTimeout = error.code === timeoutCode;
  end(socket, answers.get(error.code ?? "") ?? malformed, requestId, isTimeout ? 0 : lingerMs);
}

const tooManyConnections: Answer = {
  status: 503,
  reason: "Service Unavailable",
  message: "Too many connections are open. Close some, or try again shortly.",
  retryAfterSeconds: 5,
};

/** For a connection from which nothing was read. */
export function refuseConnection(socket: Socket, requestId: string): void {
  end(socket, tooManyConnections, requestId, 0);
}

/** Sends the answer and closes the connection whether or not the client closes its side. */
function end(socket: Socket, answer: Answer, requestId: string, lingerMs: number): void {
  const body = JSON.stringify({ error: answer.message });
  const headers = {
    ...baseHeaders,
    "content-type": jsonType,
    "content-length": String(Buffer.byteLength(body)),
    "x-request-id": requestId,
    connection: "close",
    ...(answer.retryAfterSeconds !== undefined && { "retry-after": String(answer.retryAfterSeconds) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${answer.status} ${answer.reason}`, ...lines, "", body].join("\r\n"));
  if (lingerMs === 0) socket.destroySoon();
  else setTimeout(() => socket.destroy(), lingerMs).unref();
}

/** The client would read an error text in the middle of an answer as part of that answer. */
function isAnswering(socket: Socket): boolean {
  const current: unknown = Reflect.get(socket, "_httpMessage");
  return current instanceof ServerResponse && current.headersSent;
}

/** Answers an `Expect` other than 100-continue (RFC 9110, 10.1.1). */
export function answerExpectation(_request: IncomingMessage, response: HttpResponse, requestId: string): void {
  response.writeHead(417, { ...baseHeaders, "content-type": jsonType, "x-request-id": requestId, connection: "close" });
  response.end(JSON.stringify({ error: "This Expect header is not supported." }));
}
