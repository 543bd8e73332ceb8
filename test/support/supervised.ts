/** Workers of the program as it is shipped, under the primary's own code but on any database: run by `startWorkers`. */
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createEvents } from "../../src/telemetry/events.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createClusterWorkers } from "../../src/workers/cluster-workers.ts";
import { Supervisor } from "../../src/workers/supervisor.ts";

const program = resolve(import.meta.dirname, "../../dist/main.js");

const supervisor = new Supervisor({
  count: Number(process.argv[2]),
  startWorker: createClusterWorkers({ exec: program, args: ["serve"] }),
  drainMsMax: 40_000,
  version: "0.0.0-test",
  events: createEvents({ logger: createLogger("info", process.stdout), clock: Date }),
  monotonicMs: () => performance.now(),
  pause: (ms) => sleep(ms),
});
process.on("SIGTERM", () => supervisor.stop("SIGTERM"));
process.on("SIGHUP", () => void supervisor.roll());
process.exit(await supervisor.run());
