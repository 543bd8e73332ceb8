import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface StandIn {
  readonly origin: string;
  /** `GET /path?query`, of every request. */
  readonly requests: string[];
}

type Answer = (request: string, incoming: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server that answers as the test says, instead of a server of another product. It is closed after the test. */
export async function startStandIn(answer: Answer): Promise<StandIn> {
  const requests: string[] = [];
  const server = createServer(async (incoming, response) => {
    const request = `${incoming.method} ${incoming.url}`;
    requests.push(request);
    answer(request, incoming, response, await text(incoming));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export function sendJson(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}
