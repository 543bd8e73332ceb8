import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type BareServer, startBareServer } from "../../test/support/http-server.ts";
import { limitConnections } from "./connections.ts";

let server: BareServer;
let sockets: Socket[] = [];
let slowReached: Promise<void>;
let answerSlow: () => void;
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
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  [slowReached, answerSlow] = [reached.promise, gate.resolve];
  server.fastify.get("/api/slow", { config }, async () => {
    reached.resolve();
    await gate.promise;
    return "ok";
  });
  return Number(new URL(await server.fastify.listen({ host: "127.0.0.1", port: 0 })).port);
}

interface Client {
  readonly socket: Socket;
  /** Everything the server sent, when it has closed the connection. */
  readonly ended: Promise<string>;
}

/** Resolves when the server has accepted the connection, whether or not it refuses it then. */
async function open(port: number, localAddress: string, listener = server.fastify.server): Promise<Client> {
  const accepted = once(listener, "connection");
  const socket = connect({ port, host: "127.0.0.1", localAddress }).setEncoding("latin1");
  sockets.push(socket);
  let received = "";
  socket.on("data", (text: string) => {
    received += text;
  });
  socket.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  await accepted;
  return { socket, ended };
}

async function requestOn({ socket }: Client): Promise<string> {
  socket.write("GET /api/ok HTTP/1.1\r\nHost: a\r\n\r\n");
  const [answer]: string[] = await once(socket, "data");
  return answer ?? "";
}

test("an office behind one address gets more connections than its limit while they are in use", async () => {
  const port = await listen({ ...untrusted, PWP__CONNECTIONS__PER_CLIENT: "8" });
  const office: Client[] = [];
  for (let count = 0; count < 64; count += 1) office.push(await open(port, "127.0.0.1"));
  // Their requests come later, but sooner than the connections count as silent.
  server.clock.advance(1_999);
  for (const client of office) expect(await requestOn(client)).toContain(" 200 ");
});

test("beyond the limit of a client, a new connection closes its own one that has been silent for the longest time", async () => {
  const port = await listen({ ...untrusted, PWP__CONNECTIONS__PER_CLIENT: "3" });
  const other = await open(port, "127.0.0.2");
  const first = await open(port, "127.0.0.1");
  const halfSent = await open(port, "127.0.0.1");
  const last = await open(port, "127.0.0.1");
  halfSent.socket.write("GET /api/ok HTTP/1.1\r\nX: x");
  server.clock.advance(2_000);
  expect(await requestOn(first)).toContain(" 200 ");
  const more = await open(port, "127.0.0.1");
  await halfSent.ended;
  for (const client of [first, last, more, other]) expect(await requestOn(client)).toContain(" 200 ");
});

test("a connection whose request is not answered yet is not closed for another one", async () => {
  const port = await listen({ ...untrusted, PWP__CONNECTIONS__PER_CLIENT: "1" });
  const slow = await open(port, "127.0.0.1");
  slow.socket.write("GET /api/slow HTTP/1.1\r\nHost: a\r\n\r\n");
  await slowReached;
  server.clock.advance(60_000);
  expect(await requestOn(await open(port, "127.0.0.1"))).toContain(" 200 ");
  const answered = once(slow.socket, "data");
  answerSlow();
  expect(String(await answered)).toContain(" 200 ");
});

describe("the limit over all clients", () => {
  const perClientMax = 256;
  const max = 1_024;
  const kept = max / 8;

  /** A server without a network. @returns functions that open connections from an address, and those that were refused. */
  function openLimited() {
    let now = 0;
    let refused = 0;
    const http = createServer().removeAllListeners("connection");
    limitConnections([http], {
      peerOf: (address) => ({ address, key: address, trusted: false }),
      newRequestId: () => "0".repeat(16),
      memoryBytes: 1,
      perClientMax,
      monotonicMs: () => now,
      onRefused: () => {
        refused += 1;
      },
    });
    const openFrom = (address: string) => {
      const socket = Object.defineProperty(new Socket(), "remoteAddress", { value: address });
      sockets.push(socket);
      http.emit("connection", socket);
      return socket;
    };
    return {
      openFrom,
      advance: (ms: number) => {
        now += ms;
      },
      refused: () => refused,
    };
  }

  test("refuses the client that causes the load, and never the others", () => {
    const limited = openLimited();
    for (let count = 0; count < max; count += 1) limited.openFrom("192.0.2.1");
    expect(limited.refused()).toBe(kept);
    for (let count = 0; count < kept; count += 1) limited.openFrom("198.51.100.1");
    expect(limited.refused()).toBe(kept);
    limited.openFrom("198.51.100.2");
    expect(limited.refused()).toBe(kept + 1);
  });

  test("closes the oldest silent connection before it refuses one", () => {
    const limited = openLimited();
    const opened = Array.from({ length: max }, (_, at) => limited.openFrom(`192.0.2.${at % 8}`));
    expect(limited.refused()).toBe(0);
    limited.openFrom("198.51.100.1");
    expect(limited.refused()).toBe(1);
    limited.advance(2_000);
    limited.openFrom("198.51.100.1");
    expect([limited.refused(), opened[0]?.destroyed, opened[1]?.destroyed]).toEqual([1, true, false]);
  });
});

test("connections of a trusted proxy are not counted", async () => {
  const port = await listen({ PWP__CONNECTIONS__PER_CLIENT: "1" });
  const proxy = [await open(port, "127.0.0.1"), await open(port, "127.0.0.1"), await open(port, "127.0.0.1")];
  for (const connection of proxy) expect(await requestOn(connection)).toContain(" 200 ");
});

test("connections of a proxy that is not trusted are counted", async () => {
  const port = await listen({ ...untrusted, PWP__CONNECTIONS__PER_CLIENT: "1" });
  const first = await open(port, "127.0.0.2");
  server.clock.advance(2_000);
  await open(port, "127.0.0.2");
  await first.ended;
});

test("connections of the gateway's listener are counted with those of the first one", async () => {
  const port = await listen({ ...untrusted, PWP__CONNECTIONS__PER_CLIENT: "1", PWP__PUBLIC_GATEWAY_PORT: "0" });
  const { gateway } = server;
  if (gateway === undefined) throw new Error("There is no second listener.");
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  onTestFinished(() => void gateway.close());
  const first = await open((gateway.address() as AddressInfo).port, "127.0.0.2", gateway);
  server.clock.advance(2_000);
  await open(port, "127.0.0.2");
  // Closed at once. A connection that sends nothing is answered and closed later.
  expect(await first.ended).toBe("");
});
