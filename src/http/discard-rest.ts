import type { IncomingMessage, ServerResponse } from "node:http";

/** What a refused sender may still send so that it gets to read the answer; beyond it the connection is cut. */
const discardedBytesMax = 8 * 1024 * 1024;
const discardMsMax = 10_000;

/**
 * A body that will not be read. Closing at once would reset the connection while the client is still sending, and it
 * would never see why; reading on without bound would let it send for ever. One that asked for the connection's end with
 * the answer, as proxies do, gets it when all is sent.
 */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  if (coding === undefined && (length === undefined || length === "0")) return;
  if (request.complete || request.destroyed) return;
  let discardedBytes = 0;
  const cut = setTimeout(() => request.destroy(), discardMsMax);
  request.on("data", (chunk: Buffer) => {
    discardedBytes += chunk.length;
    if (discardedBytes > discardedBytesMax) request.destroy();
  });
  const closes = !response.shouldKeepAlive;
  response.shouldKeepAlive = true;
  const done = () => {
    clearTimeout(cut);
    if (closes) endWithAnswer(request, response);
  };
  request.once("end", done);
  request.once("close", done);
  request.once("error", done);
  request.resume();
}

function endWithAnswer({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.writableFinished) socket.destroySoon();
  else response.once("finish", () => socket.destroySoon());
}
