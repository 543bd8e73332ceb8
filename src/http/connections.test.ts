import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type BareServer, startBareServer } from "../../test/support/http-server.ts";

let server: BareServer;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await server.fastify.close();
});

const untrusted = { PWP__TRUSTED_PROXIES: "none" };

async function listen(environment: Readonly<Record<string, string>>): Promise<number> {
  server = startBareServer(environment);
  const config = { access: "public", group: "internal", changesState: false } as const;
  server.fastify.get("/api/ok", { config }, async () => "ok");
  return Number(new URL(await server.fastify.listen({ host: "127.0.0.1", port: 0 })).port);
}

interface Client {
  readonly socket: Socket;
  /** Everything the server sent, when it has closed the connection. */
  readonly ended: Promise<string>;
  /** Resolves when the server's side is closed. */
  readonly closedByServer: Promise<void>;
}

/** Resolves when the server has accepted the connection, whether or not it refuses it then. */
async function open(port: number, localAddress: string): Promise<Client> {
  const accepted = once(server.fastify.server, "connection");
  const socket = connect({ port, host: "127.0.0.1", localAddress }).setEncoding("latin1");
  sockets.push(socket);
  let received = "";
  socket.on("data", (text: string) => {
    received += text;
  });
  socket.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  const [accepting]: Socket[] = await accepted;
  const closedByServer = new Promise<void>((resolve) => accepting?.once("close", () => resolve()));
  return { socket, ended, closedByServer };
}

async function requestOn({ socket }: Client): Promise<string> {
  socket.write("GET /api/ok HTTP/1.1\r\nHost: a\r\n\r\n");
  const [answer]: string[] = await once(socket, "data");
  return answer ?? "";
}

test("connections beyond those of one client are closed with 503, and others are served", async () => {
  const port = await listen({ ...untrusted, PWP__CONNECTIONS__PER_CLIENT: "8" });
  const clients: Client[] = [];
  for (let count = 0; count < 8; count += 1) {
    const client = await open(port, "127.0.0.1");
    expect(await requestOn(client)).toContain(" 200 ");
    clients.push(client);
  }
  const refused = await (await open(port, "127.0.0.1")).ended;
  expect(refused).toMatch(/^HTTP\/1\.1 503 /);
  expect(refused).toContain("retry-after: 5");
  expect(refused).toMatch(/x-request-id: [0-9a-f]{16}/);
  expect(await requestOn(await open(port, "127.0.0.2"))).toContain(" 200 ");
  clients[0]?.socket.destroy();
  await clients[0]?.closedByServer;
  expect(await requestOn(await open(port, "127.0.0.1"))).toContain(" 200 ");
  expect(server.logLines.some((line) => line.includes("connection_refused"))).toBe(true);
  expect(server.logLines.some((line) => line.includes("127.0.0"))).toBe(false);
});

test("a client has fewer connections on which no request has arrived", async () => {
  const port = await listen({ ...untrusted, PWP__CONNECTIONS__PER_CLIENT: "16" });
  const silent = await open(port, "127.0.0.1");
  const halfSent = await open(port, "127.0.0.1");
  halfSent.socket.write("GET /api/ok HTTP/1.1\r\nX: x");
  expect(await (await open(port, "127.0.0.1")).ended).toMatch(/^HTTP\/1\.1 503 /);
  expect(await requestOn(silent)).toContain(" 200 ");
  expect(await requestOn(await open(port, "127.0.0.1"))).toContain(" 200 ");
});

test("connections of a trusted proxy are not counted", async () => {
  const port = await listen({ PWP__CONNECTIONS__PER_CLIENT: "1" });
  const proxy = [await open(port, "127.0.0.1"), await open(port, "127.0.0.1"), await open(port, "127.0.0.1")];
  for (const connection of proxy) expect(await requestOn(connection)).toContain(" 200 ");
});

test("connections of a proxy that is not trusted are counted", async () => {
  const port = await listen({ ...untrusted, PWP__CONNECTIONS__PER_CLIENT: "1" });
  await open(port, "127.0.0.2");
  expect(await (await open(port, "127.0.0.2")).ended).toMatch(/^HTTP\/1\.1 503 /);
});
