import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { beginCreation, expectClosed, expectOpensOnce, finishCreation } from "../support/begun-creation.ts";
import { createPush } from "../support/endpoints.ts";
import { newDataDir } from "../support/processes.ts";
import { refusesConnections } from "../support/refuses-connections.ts";
import { startServer } from "../support/server.ts";

describe("a server that receives a stop signal", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "finishes running requests on %s, accepts no new ones and exits",
    async (signal) => {
      const dataDir = newDataDir();
      const server = await startServer({ dataDir });
      const creation = await beginCreation(server);
      process.kill(server.pid, signal);
      await server.logged("server_stopping");
      await refusesConnections(server.port);
      const push = await finishCreation(creation);
      expect(await server.ended).toEqual({ exitCode: 0, signal: null });
      expect(server.logLines.at(-1)).toContain('"event":"server_stopped"');
      await expectClosed(dataDir);
      await expectOpensOnce(dataDir, push);
    },
  );

  it("is not held up by connections without a request", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    await createPush(server.baseUrl, { payload: "kept alive", expire_after_views: 1 });
    const silent = connect(server.port, "127.0.0.1");
    await once(silent, "connect");
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
    silent.destroy();
    await expectClosed(dataDir);
  });

  it("exits if it is starting or has just started", async () => {
    const dataDir = newDataDir();
    for (let round = 0; round < 3; round += 1) {
      const server = await startServer({ dataDir });
      expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
      await expectClosed(dataDir);
    }
  });

  it("because its log output is closed, finishes running requests, says so and exits with an error", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    const creation = await beginCreation(server);
    server.closeLog();
    // The log line of this request is the first that cannot be written.
    expect((await fetch(server.baseUrl)).status).toBe(200);
    await refusesConnections(server.port);
    const push = await finishCreation(creation);
    expect(await server.ended).toEqual({ exitCode: 1, signal: null });
    expect(server.logLines.filter((line) => !line.startsWith("{"))).toEqual([
      "The log cannot be written any more (EPIPE). The server finishes running requests and stops.",
    ]);
    await expectClosed(dataDir);
    await expectOpensOnce(dataDir, push);
  });
});
