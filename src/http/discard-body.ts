import type { IncomingMessage, ServerResponse } from "node:http";
import { isInTinyPieces } from "./body/body-chunks.ts";

/** How much a refused client may still send before the connection is cut, so that it can read the answer. */
const discardedBytesMax = 8 * 1024 * 1024;
const discardMsMax = 10_000;

/**
 * Reads and drops a body that no handler reads, within bounds. Closing at once would reset the connection while the client
 * is still sending, and it would never see the answer. A connection that the client asked to close after the answer, as
 * proxies do, is closed when the body has arrived.
 */
export function discardBody(request: IncomingMessage, response: ServerResponse): void {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  if (coding === undefined && (length === undefined || length === "0")) return;
  if (request.complete || request.destroyed) return;
  let discardedBytes = 0;
  let pieces = 0;
  const cut = setTimeout(() => request.destroy(), discardMsMax);
  request.on("data", (chunk: Buffer) => {
    discardedBytes += chunk.length;
    pieces += 1;
    if (discardedBytes > discardedBytesMax || isInTinyPieces(pieces, discardedBytes)) request.destroy();
  });
  const closeAfterwards = !response.shouldKeepAlive;
  response.shouldKeepAlive = true;
  const done = () => {
    clearTimeout(cut);
    if (closeAfterwards) closeAfterAnswer(request, response);
  };
  request.once("end", done);
  request.once("close", done);
  request.once("error", done);
  request.resume();
}

function closeAfterAnswer({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.writableFinished) socket.destroySoon();
  else response.once("finish", () => socket.destroySoon());
}
