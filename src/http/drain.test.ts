import { once } from "node:events";
import { createServer, type ServerResponse as HttpResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it } from "vitest";
import { createDrain } from "./drain.ts";
import { ServerResponse } from "./node-http.ts";

it("does not cut a running request that sends no byte while idle connections are closed", async () => {
  const begun = Promise.withResolvers<HttpResponse>();
  const server = createServer({ ServerResponse }, (_request, response) => begun.resolve(response));
  const drain = createDrain([server]);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const answer = fetch(`http://127.0.0.1:${port}/`);
  const response = await begun.promise;
  const accepted = once(server, "connection");
  const idle = connect(port, "127.0.0.1").resume();
  const closed = once(idle, "close");
  await accepted;

  const drained = drain.run({ graceMs: 0, idleMs: 20 });
  // Connections are looked at in the order in which they came.
  await closed;
  response.end("late");
  expect(await (await answer).text()).toBe("late");
  await drained;
});
