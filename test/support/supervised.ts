/** Workers of the built program, under the primary's own code but on any database: run by `startWorkers`. */
import { setTimeout as sleep } from "node:timers/promises";
import { reportError } from "../../src/cli/errors.ts";
import { createEvents } from "../../src/telemetry/events.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { ClusterWorkers } from "../../src/workers/cluster-workers.ts";
import { Supervisor } from "../../src/workers/supervisor.ts";

const [, , program = "", count] = process.argv;

const { HOST: host = "127.0.0.1", PORT = "0" } = process.env;
const workers = new ClusterWorkers({ exec: program, args: ["serve"] });
const port = await workers.listen({ host, port: Number(PORT) }).catch((error: unknown) => {
  process.exit(reportError(error, { stderr: (text) => process.stderr.write(text) }));
});
const supervisor = new Supervisor({
  count: Number(count),
  startWorker: () => workers.start(),
  stopListening: () => workers.stopListening(),
  graceMs: 0,
  drainMsMax: 40_000,
  address: { host, port, version: "0.0.0-test" },
  events: createEvents({ logger: createLogger("info", process.stdout), clock: Date }),
  monotonicMs: () => performance.now(),
  pause: (ms) => sleep(ms),
});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => supervisor.stop(signal));
process.on("SIGHUP", () => void supervisor.roll());
process.exit(await supervisor.run());
