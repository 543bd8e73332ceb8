import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startBareServer } from "../../test/support/http-server.ts";

const half = Buffer.alloc(500_000, "x");

test.each(["close", "keep-alive"])("a refused client that asks for %s may send its whole body", async (wish) => {
  const { fastify } = startBareServer();
  const origin = new URL(await fastify.listen({ host: "127.0.0.1", port: 0 }));
  const socket = connect(Number(origin.port), origin.hostname).setEncoding("latin1");
  socket.write(`POST /nowhere HTTP/1.1\r\nHost: x\r\nConnection: ${wish}\r\nContent-Length: 1000000\r\n\r\n`);
  socket.write(half);
  const [answer] = await once(socket, "data");
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  // If the server had closed the connection, this write would fail and the client might never read the answer.
  const sent = new Promise<void>((resolve, reject) => {
    socket.once("error", reject).write(half, (error) => (error ? reject(error) : resolve()));
  });
  await sent;
  if (wish === "keep-alive") {
    socket.write("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect((await once(socket, "data"))[0]).toMatch(/^HTTP\/1\.1 404 /);
  }
  await once(socket, "end");
  await fastify.close();
});
