import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { type BareServer, startBareServer } from "../../test/support/http-server.ts";
import { rawRequest } from "../../test/support/raw-request.ts";
import { receiveBody, refuseFiles } from "./body/receive-body.ts";
import { sendJson } from "./headers.ts";

let server: BareServer;
afterEach(() => server.fastify.close());

async function listen(): Promise<string> {
  server = startBareServer();
  const { fastify, bodyIntake } = server;
  fastify.get("/api/ok", { config: { access: "public", group: "internal", changesState: false } }, (_request, reply) =>
    sendJson(reply, 200, {}),
  );
  fastify.post(
    "/api/body",
    { config: { access: "public", group: "internal", changesState: false } },
    async (request, reply) => {
      const { value } = await receiveBody(request, bodyIntake, refuseFiles);
      return sendJson(reply, 200, { value });
    },
  );
  fastify.post(
    "/api/refuse",
    { config: { access: "api_token", group: "internal", scope: null, changesState: true } },
    (_request, reply) => sendJson(reply, 200, {}),
  );
  return await fastify.listen({ host: "127.0.0.1", port: 0 });
}

const close = "Connection: close\r\n";

/** Resolves when the server has closed its next connection, in whatever way. */
async function closeOfConnection({ fastify }: BareServer): Promise<void> {
  const [socket]: Socket[] = await once(fastify.server, "connection");
  await new Promise((resolve) => socket?.once("close", resolve));
}

test.each([
  ["a made-up method", "BREW /api/ok HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["no HTTP at all", "\u0016\u0003\u0001\u0002\u0000hello\r\n\r\n", 400],
  ["huge headers", `GET /api/ok HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, 431],
  ["a NUL in a header", "GET /api/ok HTTP/1.1\r\nHost: a\r\nX: a\u0000b\r\n\r\n", 400],
  ["a negative length", "POST /api/body HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400],
  ["two lengths", "POST /api/body HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400],
  [
    "length and chunks",
    "POST /api/body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
  ],
  ["a bad chunk", "POST /api/body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400],
  ["no Host", `GET /api/ok HTTP/1.1\r\n${close}\r\n`, 400],
  ["HTTP/1.0 without Host", "GET /api/ok HTTP/1.0\r\n\r\n", 400],
  ["non-ASCII characters in the address", "GET /api/ok?passphrase=\u00c3\u00a9 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a blank in the address", "GET /api/ok?passphrase=a b HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["an unknown expectation", `GET /api/ok HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n${close}\r\n`, 417],
  ["an absolute target", `GET http://evil.example/api/ok HTTP/1.1\r\nHost: a\r\n${close}\r\n`, 200],
  ["a star target", `OPTIONS * HTTP/1.1\r\nHost: a\r\n${close}\r\n`, 404],
])("%s", async (_, request, status) => {
  const answer = await rawRequest(await listen(), Buffer.from(request, "latin1"));
  expect(answer.split("\r\n", 1)[0]).toContain(` ${status} `);
  expect(answer).toMatch(/x-request-id: [0-9a-f]{16}/i);
  expect(answer).toMatch(/content-type: application\/json/i);
  expect(answer).toMatch(/content-security-policy: default-src 'none'/i);
  expect(answer).not.toContain("HPE_");
});

test("the gateway's listener has the time limits of the first one, and refuses as it does", async () => {
  server = startBareServer({ PWP__PUBLIC_GATEWAY_PORT: "0" });
  const { fastify, gateway } = server;
  if (gateway === undefined) throw new Error("There is no second listener.");
  const limitsOf = ({ timeout, keepAliveTimeout, headersTimeout, requestTimeout }: HttpServer) => [
    ...[timeout, keepAliveTimeout, headersTimeout, requestTimeout],
  ];
  expect(limitsOf(gateway)).toEqual(limitsOf(fastify.server));
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  onTestFinished(() => void gateway.close());
  const origin = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const malformed = await rawRequest(origin, "BREW /api/ok HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(malformed).toMatch(/x-request-id: [0-9a-f]{16}/i);
  const expecting = `GET /api/ok HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n${close}\r\n`;
  expect(await rawRequest(origin, expecting)).toMatch(/ 417 .*x-request-id: [0-9a-f]{16}/is);
});

test("CONNECT and an upgrade to another protocol end quietly", async () => {
  const origin = await listen();
  await rawRequest(origin, "CONNECT evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n");
  const upgrade = await rawRequest(
    origin,
    `GET /api/ok HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`,
  );
  expect(upgrade).toContain("200 OK");
});

test("a refused upload gets its answer while it is still sending", async () => {
  const origin = await listen();
  const bytes = 4 * 1024 * 1024;
  const head = `POST /api/refuse HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${bytes}\r\n${close}\r\n`;
  const answer = await rawRequest(origin, Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 0x61)]));
  expect(answer).toContain("401 Unauthorized");
});

test("a truncated body releases its memory", async () => {
  const origin = await listen();
  const { hostname, port } = new URL(origin);
  const gone = closeOfConnection(server);
  const socket = connect(Number(port), hostname);
  const head = "POST /api/body HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 500000\r\n\r\n";
  socket.write(`${head}${"x".repeat(100_000)}`, () => socket.destroy());
  await gone;
  await new Promise((resolve) => setImmediate(resolve));
  expect(server.bodyIntake.heldBytes).toBe(0);
  expect((await fetch(`${origin}/api/ok`)).status).toBe(200);
  expect(server.logLines).toEqual([]);
});

test("a timed-out request gets 408 and its connection is closed, even if the client keeps its side open", async () => {
  const { hostname, port } = new URL(await listen());
  const accepted = once(server.fastify.server, "connection");
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  const [accepting]: Socket[] = await accepted;
  const closed = new Promise((resolve) => accepting?.once("close", resolve));
  const answered = once(socket, "data");
  socket.write("GET /api/ok HTTP/1.1\r\nX: half");
  const timeout = Object.assign(new Error("timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
  server.fastify.server.emit("clientError", timeout, accepting);
  expect(String(await answered)).toMatch(/^HTTP\/1\.1 408 /);
  await closed;
  socket.destroy();
  expect(server.fastify.server.headersTimeout).toBe(10_000);
});
