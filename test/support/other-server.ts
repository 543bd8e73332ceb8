import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";

interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface OtherServer {
  /** The host of the tested server on another port: cross-origin but same-site, so browsers send cookies. */
  readonly origin: string;
  /** The same server under a host name that makes it cross-site as well. */
  readonly foreignOrigin: string;
  /** The same server under a name whose plain http browsers do not trust: they send no `Sec-Fetch-Site`. */
  readonly untrustedOrigin: string;
  readonly requests: readonly SeenRequest[];
}

/** Starts a server that answers every path with `html` and records the requests. It stops when the test finishes. */
export async function startOtherServer(html = "<!doctype html><title>Other server</title>"): Promise<OtherServer> {
  const requests: SeenRequest[] = [];
  const server = createServer(({ method = "", url = "", headers }, response) => {
    if (url !== "/favicon.ico") requests.push({ method, url, headers });
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The other server has no port.");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    foreignOrigin: `http://localhost:${address.port}`,
    untrustedOrigin: `http://other.test:${address.port}`,
    requests,
  };
}
