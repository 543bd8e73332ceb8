import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { serveGiven } from "./given-connections.ts";

/** A server that gets its connections from another one, and a connection to it. */
async function connectThrough(options: { headersTimeout?: number; connectionsCheckingInterval?: number } = {}) {
  const http = createHttpServer(options, (request, response) => {
    request.resume().on("end", () => response.end("answered"));
  });
  const take = serveGiven(http);
  const door = createServer(take).listen(0, "127.0.0.1");
  onTestFinished(() => {
    door.close();
    http.close();
  });
  await once(door, "listening");
  const client = connect({ port: (door.address() as AddressInfo).port, host: "127.0.0.1" });
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
