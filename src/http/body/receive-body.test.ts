import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { type BareServer, startBareServer } from "../../../test/support/http-server.ts";
import { sendJson } from "../headers.ts";
import { minimumRate } from "./body-chunks.ts";
import { receiveBody, refuseFiles } from "./receive-body.ts";

let server: BareServer;
let sockets: Socket[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const socket of sockets) socket.destroy();
  sockets = [];
  const closed = server.fastify.close();
  // A connection whose answer was just sent may not count as idle yet, and would be waited for.
  server.fastify.server.closeAllConnections();
  await closed;
});

/** The handler of `/api/create` waits for `answer` before it answers. */
async function listen(answer: Promise<void> = Promise.resolve()): Promise<number> {
  server = startBareServer();
  const { fastify, bodyIntake } = server;
  const handler = async (request: Parameters<typeof receiveBody>[0], reply: Parameters<typeof sendJson>[0]) => {
    await receiveBody(request, bodyIntake, refuseFiles);
    await answer;
    return sendJson(reply, 200, { heldBytes: bodyIntake.heldBytes });
  };
  fastify.post(
    "/api/create",
    { config: { access: "api", group: "internal", scope: "create", changesState: true } },
    handler,
  );
  fastify.post(
    "/api/other",
    { config: { access: "api", group: "internal", scope: "read", changesState: true } },
    handler,
  );
  return Number(new URL(await fastify.listen({ host: "127.0.0.1", port: 0 })).port);
}

function open(port: number): Socket {
  const socket = connect(port, "127.0.0.1").setEncoding("latin1");
  sockets.push(socket);
  return socket;
}

const heldBytes = () => server.bodyIntake.heldBytes;

const headOf = (bytes: number, path = "/api/create") =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
const mebibyte = 1024 * 1024;

test("a declared length reserves no memory, so idle connections do not prevent others from sending", async () => {
  const port = await listen();
  for (let count = 0; count < 20; count += 1) {
    const request = once(server.fastify.server, "request");
    open(port).write(headOf(26 * mebibyte));
    await request;
  }
  expect(server.bodyIntake.heldBytes).toBe(0);
  const body = JSON.stringify({ text: "a".repeat(8 * mebibyte) });
  const sent = await fetch(`http://127.0.0.1:${port}/api/create`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(sent.status).toBe(200);
});

test("what has arrived is held until the answer is sent", async () => {
  const answer = Promise.withResolvers<void>();
  const port = await listen(answer.promise);
  const socket = open(port);
  const body = JSON.stringify({ text: "a".repeat(mebibyte) });
  const read = new Promise<string>((resolve) => socket.once("data", resolve));
  socket.write(`${headOf(body.length)}${body}`);
  await expect.poll(heldBytes).toBeGreaterThan(mebibyte / 2);
  answer.resolve();
  expect(await read).toContain(" 200 ");
  await expect.poll(heldBytes).toBe(0);
});

test("a pipelined request that is cut before its turn to be answered releases what it held", async () => {
  const answer = Promise.withResolvers<void>();
  const port = await listen(answer.promise);
  const socket = open(port);
  const body = JSON.stringify({ text: "a".repeat(mebibyte) });
  socket.write(`${headOf(2)}{}${headOf(body.length)}${body}`);
  await expect.poll(heldBytes).toBeGreaterThan(mebibyte / 2);
  socket.destroy();
  await expect.poll(heldBytes).toBe(0);
  answer.resolve();
});

test("a body that stops arriving is answered with 408, and the connection is closed", async () => {
  const port = await listen();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const socket = open(port);
  let received = "";
  socket.on("data", (text: string) => {
    received += text;
  });
  const request = once(server.fastify.server, "request");
  socket.write(`${headOf(1_000_000)}{"text": "`);
  await request;
  vi.advanceTimersByTime(minimumRate.windowMs);
  await once(socket, "close");
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  expect(received).toMatch(/connection: close/i);
  expect(received).toContain("The body arrived too slowly.");
  expect(server.bodyIntake.heldBytes).toBe(0);
});

test("only a push may have a large body", async () => {
  const port = await listen();
  for (const [path, status] of [
    ["/api/create", 400],
    ["/api/other", 413],
  ] as const) {
    const request = { method: "POST", headers: { "content-type": "application/json" }, body: " ".repeat(mebibyte) };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, request);
    expect(answer.status).toBe(status);
    await answer.text();
  }
});
