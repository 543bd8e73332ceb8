import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import closeWithGrace from "close-with-grace";
import packageJson from "../package.json" with { type: "json" };
import { systemClock } from "./base/clock.ts";
import { systemRandom } from "./base/random.ts";
import type { Config } from "./config/config.ts";
import { loadConfig } from "./config/load-config.ts";
import type { Effects } from "./domain.ts";
import { createEvents } from "./telemetry/events.ts";
import { createLogger } from "./telemetry/logger.ts";
import { ClusterWorkers } from "./workers/cluster-workers.ts";
import { Supervisor } from "./workers/supervisor.ts";
import { joinPrimary } from "./workers/worker-link.ts";

/** From the moment at which nobody is let in any more. */
const drainMsMax = 30_000;
const oneWishMs = 1_000;
/** At least, where nobody waits for the end: most clients have used their connection again by then, or dropped it. */
const retiringIdleMsMin = 5_000;
/** A worker that hangs is killed by its primary, which leaves it the time to end by itself. */
const killAfterMs = 2_000;

const effects: Effects = {
  clock: systemClock,
  random: systemRandom,
  monotonicMs: () => performance.now(),
  pause: (ms) => sleep(ms),
};

/**
 * Runs until SIGTERM, SIGINT or SIGHUP; then running requests finish, new connections are refused and the database
 * closes. A signal that comes while the server still starts lets it start, and then stops it, unless it only waits for its
 * database. As a worker it obeys its
 * primary as well.
 */
async function serve(config: Config, warnings: readonly string[]): Promise<number> {
  const { startServer } = await import("./serve.ts");
  const ended = Promise.withResolvers<number>();
  const abandoned = new AbortController();
  let askedBy: string | undefined;
  const idleMs = config.shutdownIdleMs;
  let times = { graceMs: config.shutdownGraceMs, idleMs };
  const stop = (signal: string, otherTimes = times) => {
    if (askedBy !== undefined) return;
    askedBy = signal;
    times = otherTimes;
    abandoned.abort();
    ending.close();
  };
  const link = joinPrimary({
    onStop: stop,
    onRetire: () => stop("retire", { graceMs: 0, idleMs: Math.max(idleMs, retiringIdleMsMin) }),
    onAlone: () => stop("alone", { graceMs: 0, idleMs }),
  });
  const starting = startServer(config, warnings, {
    effects,
    logDestination: process.stdout,
    assetsDir: join(import.meta.dirname, "assets"),
    version: packageJson.version,
    abandoned: abandoned.signal,
    ...(link !== undefined && { worker: link }),
  });
  let logIsLost = false;
  onLogLost((code) => {
    if (link !== undefined) return link.logLost(code);
    if (askedBy !== undefined) return;
    logIsLost = true;
    sayLogIsLost(code);
    stop("log lost");
  });
  const ending = closeWithGrace(
    { delay: config.shutdownGraceMs + drainMsMax, logger: false, skip: [...stopSignals] },
    async ({ signal, err }) => {
      const app = await starting.catch(() => undefined);
      // Why there is none is told below.
      if (app === undefined) return;
      if (err !== undefined) app.events.jobFailed("process", err);
      if (link === undefined) app.events.serverStopping(askedBy ?? signal ?? "error");
      await app.close(err === undefined ? times : { graceMs: 0, idleMs });
      const { commits, units } = app.domain.db.counts;
      if (link === undefined) app.events.serverStopped({ commits, units });
      else app.events.workerStopped({ commits, units });
      // What is closed on request ends with 0 otherwise, whatever this returns.
      if (logIsLost) process.exit(1);
      ended.resolve(err === undefined ? 0 : 1);
    },
  );
  if (link === undefined) onStopSignal(stopSignals, stop, () => process.exit(1));
  else onWorkersSignal(stop);
  try {
    await starting;
  } catch (error) {
    ending.uninstall();
    if (error === abandoned.signal.reason) return 0;
    throw error;
  }
  return await ended.promise;
}

const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * A second signal ends the process at once, for whoever does not want to wait. But npm passes on to the server what a
 * terminal or a supervisor has sent to the whole group already: close together, two signals are one wish.
 */
function onStopSignal(
  names: readonly (typeof stopSignals)[number][],
  stop: (signal: string) => void,
  endAtOnce: () => void,
): void {
  let firstAt: number | undefined;
  for (const name of names) {
    process.on(name, () => {
      const now = effects.monotonicMs();
      if (firstAt === undefined) {
        firstAt = now;
        stop(name);
      } else if (now - firstAt > oneWishMs) {
        endAtOnce();
      }
    });
  }
}

/**
 * When the log's reader goes away, the next line of the log is an error of the output, and one that nobody listened to
 * would cut the requests that run. @param lost gets the system's code, once.
 */
function onLogLost(lost: (code: string) => void): void {
  let told = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (told) return;
    told = true;
    lost(error.code ?? error.name);
  });
  // Both outputs may be one pipe. Then there is nobody left to tell.
  process.stderr.on("error", () => undefined);
}

function sayLogIsLost(code: string): void {
  process.stderr.write(`The log cannot be written any more (${code}), so the server finishes what runs and ends.\n`);
}

/** What a terminal sends reaches the whole group; what a hangup means is the primary's to say, and so is "at once". */
function onWorkersSignal(stop: (signal: string) => void): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => stop(name));
  process.on("SIGHUP", () => undefined);
}

/** Keeps workers, which are processes of this same program, and opens nothing itself. */
async function supervise({
  host,
  port: wantedPort,
  workers: count,
  shutdownGraceMs,
  logLevel,
}: Config): Promise<number> {
  const workers = new ClusterWorkers();
  const port = await workers.listen({ host, port: wantedPort });
  const supervisor = new Supervisor({
    count,
    startWorker: () => workers.start(),
    stopListening: () => workers.stopListening(),
    graceMs: shutdownGraceMs,
    drainMsMax: shutdownGraceMs + drainMsMax + killAfterMs,
    where: { host, port, version: packageJson.version },
    events: createEvents({ logger: createLogger(logLevel, process.stdout), clock: effects.clock }),
    monotonicMs: effects.monotonicMs,
    pause: effects.pause,
  });
  const endWithLog = (code: string) => {
    if (supervisor.stop("log lost", 1)) sayLogIsLost(code);
  };
  onLogLost(endWithLog);
  void workers.logLost.then(endWithLog);
  const endAtOnce = () => {
    supervisor.kill();
    process.exit(1);
  };
  // Started from a terminal, a hangup means that the terminal has gone.
  if (isatty(0)) onStopSignal(stopSignals, (signal) => void supervisor.stop(signal), endAtOnce);
  else {
    onStopSignal(["SIGTERM", "SIGINT"], (signal) => void supervisor.stop(signal), endAtOnce);
    process.on("SIGHUP", () => void supervisor.roll());
  }
  return await supervisor.run();
}

async function superviseOrSay(config: Config): Promise<number> {
  try {
    return await supervise(config);
  } catch (error) {
    const { reportError } = await import("./cli/errors.ts");
    return reportError(error, { stderr: (text) => process.stderr.write(text) });
  }
}

/** undefined: one process does it all, a worker included; or the settings are wrong, which the command says. */
function configForWorkers(argv: readonly string[]): Config | undefined {
  if (cluster.isWorker || !(argv.length === 0 || (argv.length === 1 && argv[0] === "serve"))) return undefined;
  const loaded = loadConfig(process.env, (path) => readFileSync(path, "utf8"));
  return loaded.ok && loaded.config.workers > 1 ? loaded.config : undefined;
}

/** The error of a reader that has gone comes as an event too, a moment later, which nobody else listens to. */
function pipe(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.once("error", reject);
    process.stdout.write(bytes, (error) => {
      if (error) return reject(error);
      process.stdout.off("error", reject);
      resolve();
    });
  });
}

/** The first signal lets the command clean up, the second one of its kind ends the process as it always does. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of stopSignals) {
    process.once(name, () => controller.abort(new Error(`Interrupted (${name}): nothing was done.`)));
  }
  return controller.signal;
}

let isOutputWatched = false;

/** Whoever reads what a command says may have read enough, as `head` does: then the rest is for nobody, and no failure. */
function say(text: string): void {
  if (!isOutputWatched) {
    isOutputWatched = true;
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  process.stdout.write(text);
}

async function runCommand(argv: readonly string[]): Promise<number> {
  const { runCli } = await import("./cli/cli.ts");
  return await runCli(argv, {
    stdout: say,
    stderr: (text) => process.stderr.write(text),
    stdoutIsTerminal: isatty(1),
    pipe,
    stdin: process.stdin,
    interruption,
    environment: process.env,
    ...effects,
    version: packageJson.version,
    serve,
  });
}

// Files that this process makes are its user's alone.
process.umask(0o077);
const argv = process.argv.slice(2);
const config = configForWorkers(argv);
process.exitCode = config === undefined ? await runCommand(argv) : await superviseOrSay(config);
// The line between primary and worker, and what they wait for at most, would hold the process.
if (config !== undefined || cluster.isWorker) process.exit();
