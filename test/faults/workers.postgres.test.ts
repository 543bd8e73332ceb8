import { expect, it } from "vitest";
import { newDataDir } from "../support/processes.ts";
import { longIdleGrace, startRequestLoad } from "../support/request-load.ts";
import { startServerByNpm, startWorkers } from "../support/server.ts";

it("workers, primary and npm interrupted together by a terminal finish running requests", async () => {
  const server = await startServerByNpm({
    dataDir: newDataDir(),
    environment: { ...longIdleGrace, WEB_CONCURRENCY: "2" },
  });
  const load = startRequestLoad({ port: server.port, keptAlive: 4, fresh: 0, expected: ["ECONNREFUSED"] });
  await load.more(50);
  process.kill(-server.pid, "SIGINT");
  await server.logged("server_stopped");
  await server.ended;
  await load.stop();
  expect(load.failures).toEqual([]);
  for (const [event, times] of Object.entries({ server_stopping: 1, worker_stopped: 2, worker_lost: 0 })) {
    expect(server.logLines.filter((line) => line.includes(`"event":"${event}"`))).toHaveLength(times);
  }
});

it("workers whose log output is closed finish running requests and say why in one sentence", async () => {
  const server = await startWorkers(2, { dataDir: newDataDir(), environment: longIdleGrace });
  const load = startRequestLoad({ port: server.port, keptAlive: 4, fresh: 0, expected: ["ECONNREFUSED"] });
  await load.more(50);
  server.closeLog();
  expect(await server.ended).toEqual({ exitCode: 1, signal: null });
  await load.stop();
  expect(load.failures).toEqual([]);
  expect(server.logLines.filter((line) => !line.startsWith("{"))).toEqual([
    "The log cannot be written any more (EPIPE). The server finishes running requests and stops.",
  ]);
});
