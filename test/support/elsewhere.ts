import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";

interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Elsewhere {
  /** Another port of the server's own host: another origin, yet the same site, to which a browser sends cookies. */
  readonly origin: string;
  /** The same by a name that makes it another site too. */
  readonly foreignOrigin: string;
  readonly requests: readonly SeenRequest[];
}

/** Another site, which shows `html` at every path and remembers how it was asked. It ends with the test. */
export async function startElsewhere(html = "<!doctype html><title>Elsewhere</title>"): Promise<Elsewhere> {
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
  if (address === null || typeof address === "string") throw new Error("The other site has no port.");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    foreignOrigin: `http://localhost:${address.port}`,
    requests,
  };
}
