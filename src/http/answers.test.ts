import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type BareServer, startBareServer } from "../../test/support/http-server.ts";
import { pausedReader } from "../../test/support/paused-reader.ts";
import { reserveAnswer, sendPieces, sendText } from "./answers.ts";

const largeBytes = 12 * 1024 * 1024;
const large = "x".repeat(largeBytes);
const open = { access: "public", group: "recipient", changesState: false } as const;

let server: BareServer;
let origin: string;
let gatewayOrigin: string;
const readers: Socket[] = [];
let accepted: Socket[];
/** Resolves when `/late` has answered, after its connection has closed, with what refused an answer that needs no memory. */
let late: PromiseWithResolvers<string>;

beforeEach(async () => {
  server = startBareServer({ PWP__PUBLIC_GATEWAY_PORT: "0" });
  const { fastify, gateway } = server;
  if (gateway === undefined) throw new Error("There is no second listener.");
  accepted = [];
  for (const listener of [fastify.server, gateway]) listener.on("connection", (socket) => accepted.push(socket));
  fastify.get("/large", { config: open }, (_request, reply) => sendText(reply, large));
  late = Promise.withResolvers();
  fastify.get("/late", { config: open }, async ({ raw }, reply) => {
    await once(raw.socket, "close");
    let refusal = "";
    try {
      reserveAnswer(reply, 1);
    } catch (error) {
      refusal = String(error);
    }
    try {
      return sendText(reply, large);
    } finally {
      late.resolve(refusal);
    }
  });
  fastify.get("/small", { config: open }, (_request, reply) => sendText(reply, "small"));
  fastify.get("/pieces", { config: open }, (_request, reply) => sendPieces(reply, threePieces()));
  fastify.get("/broken", { config: open }, (_request, reply) => sendPieces(reply, brokenPieces()));
  origin = await fastify.listen({ host: "127.0.0.1", port: 0 });
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  gatewayOrigin = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const socket of readers.splice(0)) socket.destroy();
  server.gateway?.close();
  await server.fastify.close();
});

function* threePieces(): Generator<string, void> {
  yield "a";
  yield "b".repeat(100_000);
  yield "c";
}

function* brokenPieces(): Generator<string, void> {
  yield "x".repeat(100_000);
  throw new Error("The source is damaged.");
}

/** A client of its own: the server trusts the forwarding headers of this machine. */
const from = (client: string) => ({ "x-forwarded-for": client });

async function readSlowly(client: string, at = origin): Promise<Socket> {
  const socket = await pausedReader(at, "/large", from(client));
  readers.push(socket);
  return socket;
}

/** Waits until this many bytes are counted for answers. */
const untilHeld = (bytes: number) => expect.poll(() => server.fastify.answerOutflow.memory.held).toBe(bytes);

test("one client's slow readers get a share of the memory; others are served", async () => {
  await readSlowly("192.0.2.1");
  await untilHeld(largeBytes);
  const refused = await fetch(`${origin}/large`, { headers: from("192.0.2.1") });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  await refused.text();
  expect((await fetch(`${origin}/small`, { headers: from("192.0.2.1") })).status).toBe(200);
  expect(await (await fetch(`${origin}/large`, { headers: from("192.0.2.2") })).text()).toBe(large);
});

test("all clients together are limited, and a closed connection returns its memory", async () => {
  await readSlowly("192.0.2.1");
  await readSlowly("192.0.2.2");
  await untilHeld(2 * largeBytes);
  const refused = await fetch(`${origin}/large`, { headers: from("192.0.2.3") });
  expect(refused.status).toBe(503);
  await refused.text();
  for (const socket of readers.splice(0)) socket.destroy();
  await untilHeld(0);
  expect((await fetch(`${origin}/large`, { headers: from("192.0.2.1") })).status).toBe(200);
});

test("an answer whose connection has closed is refused before a view is counted, and reserves no memory", async () => {
  const request = once(server.fastify.server, "request");
  readers.push(await pausedReader(origin, "/late", {}));
  await request;
  for (const socket of readers.splice(0)) socket.destroy();
  expect(await late.promise).toContain("The client has closed the connection.");
  expect(server.fastify.answerOutflow.memory.held).toBe(0);
});

test.each(["first", "gateway's"])(
  "a reader that takes less than 480 KiB in a minute is cut: %s listener",
  async (at) => {
    const socket = await readSlowly("192.0.2.1", at === "first" ? origin : gatewayOrigin);
    await untilHeld(largeBytes);
    await untilServerWaits();
    server.runJobs();
    server.clock.advance(59_000);
    server.runJobs();
    expect(server.fastify.answerOutflow.memory.held).toBe(largeBytes);
    server.clock.advance(1_000);
    server.runJobs();
    await untilHeld(0);
    let received = 0;
    socket.on("data", (text: string) => {
      received += text.length;
    });
    socket.resume();
    await once(socket, "close");
    expect(received).toBeLessThan(largeBytes);
  },
);

test("a reader that takes more is not cut", async () => {
  const socket = await readSlowly("192.0.2.1");
  await untilHeld(largeBytes);
  await untilServerWaits();
  server.runJobs();
  let received = 0;
  socket.on("data", (text: string) => {
    received += text.length;
    // More than a minute's least; what is left does not fit into the kernel's buffers, so the server waits again.
    if (received > 1024 * 1024) socket.pause();
  });
  socket.resume();
  await once(socket, "pause");
  await untilServerWaits();
  server.clock.advance(60_000);
  server.runJobs();
  socket.removeAllListeners("data").on("data", (text: string) => {
    received += text.length;
  });
  socket.resume();
  await expect.poll(() => received).toBeGreaterThan(largeBytes);
});

/** The kernel's buffers are full: bytes wait in the server. */
async function untilServerWaits(): Promise<void> {
  let before = -1;
  const waits = () => {
    const [socket] = accepted;
    if (socket === undefined || socket.writableLength === 0) return false;
    const isStill = socket.bytesWritten === before;
    before = socket.bytesWritten;
    return isStill;
  };
  await expect.poll(waits).toBe(true);
}

test("pieces arrive in their order, with as many bytes as the source has", async () => {
  const text = await (await fetch(`${origin}/pieces`)).text();
  expect(text).toBe(`a${"b".repeat(100_000)}c`);
  await untilHeld(0);
});

test("a source that fails cuts the answer", async () => {
  const answer = await fetch(`${origin}/broken`);
  await expect(answer.text()).rejects.toThrow();
  await untilHeld(0);
});

test("a large answer has its length, also for HEAD", async () => {
  const answer = await fetch(`${origin}/large`, { method: "HEAD" });
  expect([answer.status, answer.headers.get("content-length")]).toEqual([200, String(largeBytes)]);
  await untilHeld(0);
});
