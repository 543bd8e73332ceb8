import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { acceptConnections } from "./worker-link.ts";

/** An HTTP server whose connections another server accepts, and a connection to it. */
async function connectThrough(options: { headersTimeout?: number; connectionsCheckingInterval?: number } = {}) {
  const http = createHttpServer(options, (request, response) => {
    request.resume().on("end", () => response.end("answered"));
  });
  const accept = acceptConnections(http);
  const listener = createServer(accept).listen(0, "127.0.0.1");
  onTestFinished(() => {
    listener.close();
    http.close();
  });
  await once(listener, "listening");
  const client = connect({ port: (listener.address() as AddressInfo).port, host: "127.0.0.1" });
  await once(client, "connect");
  return client;
}

async function textOf(client: Socket): Promise<string> {
  let text = "";
  for await (const chunk of client) text += String(chunk);
  return text;
}

it("answers on a connection that it has not accepted itself", async () => {
  const client = await connectThrough();
  client.write("POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
  expect(await textOf(client)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*answered$/s);
});

it("ends a request whose headers never end", async () => {
  const client = await connectThrough({ headersTimeout: 10, connectionsCheckingInterval: 10 });
  client.write("GET / HTTP/1.1\r\nHost: here\r\n");
  expect(await textOf(client)).toMatch(/^HTTP\/1\.1 408 /);
});
