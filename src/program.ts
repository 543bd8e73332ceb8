import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import packageJson from "../package.json" with { type: "json" };
import { CorrectedClock, systemClock, systemEvery } from "./base/clock.ts";
import { readPrivateBytes } from "./base/memory-shortage.ts";
import { systemRandom } from "./base/random.ts";
import type { CliIo } from "./cli/cli-io.ts";
import type { Config } from "./config/config.ts";
import { type LoadResult, loadConfig } from "./config/load-config.ts";
import type { Effects } from "./domain.ts";
import { createEvents } from "./telemetry/events.ts";
import { createLogger } from "./telemetry/logger.ts";
import { ClusterWorkers } from "./workers/cluster-workers.ts";
import { Supervisor } from "./workers/supervisor.ts";
import { joinPrimary } from "./workers/worker-link.ts";

const assetsDir = join(import.meta.dirname, "assets");

/** How long a stop may take after the grace period. */
const drainMsMax = 30_000;
/** Signals that arrive within this time count as one. */
const sameSignalMs = 1_000;
/** The minimum for a retired worker, which nobody waits for: most clients reuse or drop their connection within it. */
const retiredIdleMsMin = 5_000;
/** The primary kills a worker that hangs, but only after the worker's own limit. */
const killAfterMs = 2_000;

type Loaded = LoadResult & { readonly ok: true };

const clock = new CorrectedClock(systemClock);
const effects: Effects = {
  clock,
  correctClock: clock.correct,
  random: systemRandom,
  monotonicMs: () => performance.now(),
  pause: (ms) => sleep(ms),
  abortAfter: (ms) => AbortSignal.timeout(ms),
};

interface StopOptions {
  readonly graceMs?: number;
  readonly idleMs?: number;
  readonly exitCode?: number;
  /** The uncaught error that is the reason to stop. */
  readonly error?: unknown;
}

/**
 * Runs until SIGTERM, SIGINT or SIGHUP; then running requests finish, new connections are refused and the database is
 * closed. A signal during the start takes effect once the server has started, unless it still waits for its database.
 * A worker also stops when its primary says so.
 * @returns the exit code.
 */
async function serve(config: Config, warnings: readonly string[]): Promise<number> {
  const { startServer } = await import("./serve.ts");
  const stopped = Promise.withResolvers<{ readonly cause: string } & Required<StopOptions>>();
  const abandoned = new AbortController();
  /** @returns false if the server is stopping already. */
  const stop = (cause: string, options: StopOptions = {}): boolean => {
    if (abandoned.signal.aborted) return false;
    const { graceMs = config.shutdownGraceMs, idleMs = config.shutdownIdleMs, exitCode = 0, error } = options;
    // If closing hangs, the process ends nevertheless.
    setTimeout(() => process.exit(1), config.shutdownGraceMs + drainMsMax).unref();
    stopped.resolve({ cause, graceMs, idleMs, exitCode, error });
    abandoned.abort();
    return true;
  };
  const link = joinPrimary({
    onStop: stop,
    onRetire: () => stop("retire", { graceMs: 0, idleMs: Math.max(config.shutdownIdleMs, retiredIdleMsMin) }),
    onPrimaryLost: () => stop("alone", { graceMs: 0 }),
  });
  const starting = startServer(config, warnings, {
    effects,
    every: systemEvery,
    logDestination: process.stdout,
    assetsDir,
    version: packageJson.version,
    memoryBytes: memoryBytes() / config.workers,
    privateBytes: readPrivateBytes,
    abandoned: abandoned.signal,
    ...(link !== undefined && { worker: link }),
  });
  onLogLost((code) => {
    if (link !== undefined) link.logLost(code);
    else if (stop("log lost", { exitCode: 1 })) reportLostLog(code);
  });
  const removeErrorListeners = onUncaughtError((error) => {
    if (!stop("error", { graceMs: 0, exitCode: 1, error })) process.exit(1);
  });
  if (link === undefined) onStopSignal(stopSignals, stop, () => process.exit(1));
  else onWorkerSignal(stop);
  try {
    const app = await starting;
    const { cause, graceMs, idleMs, exitCode, error } = await stopped.promise;
    if (error !== undefined) app.events.jobFailed("process", error);
    if (link === undefined) app.events.serverStopping(cause);
    await app.close({ graceMs, idleMs });
    const { commits, transactions: units } = app.domain.db.counts;
    if (link === undefined) app.events.serverStopped({ commits, units });
    else app.events.workerStopped({ commits, units });
    // Whatever is still open must not keep the process running.
    process.exit(exitCode);
  } catch (error) {
    removeErrorListeners();
    if (error !== abandoned.signal.reason) throw error;
    const { exitCode, error: uncaught } = await stopped.promise;
    if (uncaught !== undefined) throw uncaught;
    return exitCode;
  }
}

/** The memory of the machine, or of the container if that is less. */
function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained === 0 ? totalmem() : Math.min(constrained, totalmem());
}

const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * A second signal ends the process at once. But npm forwards signals that a terminal or a supervisor has already sent to
 * the whole process group: two signals in quick succession count as one.
 */
function onStopSignal(
  names: readonly (typeof stopSignals)[number][],
  stop: (signal: string) => void,
  exitAtOnce: () => void,
): void {
  let firstAt: number | undefined;
  for (const name of names) {
    process.on(name, () => {
      const now = effects.monotonicMs();
      if (firstAt === undefined) {
        firstAt = now;
        stop(name);
      } else if (now - firstAt > sameSignalMs) {
        exitAtOnce();
      }
    });
  }
}

/** Signals from a terminal reach the whole group. The primary alone decides about a hangup and about a second signal. */
function onWorkerSignal(stop: (signal: string) => void): void {
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => stop(name));
  process.on("SIGHUP", () => undefined);
}

/** @returns what removes the listeners: Node then handles such errors itself. */
function onUncaughtError(handle: (error: unknown) => void): () => void {
  process.on("uncaughtException", handle);
  process.on("unhandledRejection", handle);
  return () => {
    process.off("uncaughtException", handle);
    process.off("unhandledRejection", handle);
  };
}

/**
 * If the reader of the log goes away, the next line written is an error event of the output. Without a listener it would
 * end the process and cut running requests. @param lost gets the system's error code, once.
 */
function onLogLost(lost: (code: string) => void): void {
  let isLost = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isLost) return;
    isLost = true;
    lost(error.code ?? error.name);
  });
  // Both outputs may be the same pipe. Then the error cannot be reported anywhere.
  process.stderr.on("error", () => undefined);
}

function reportLostLog(code: string): void {
  process.stderr.write(
    `The log cannot be written any more (${code}). The server finishes running requests and stops.\n`,
  );
}

/** Runs workers, which are processes of this same program, and opens no data itself. @returns the exit code. */
async function supervise(config: Config): Promise<number> {
  const { host, shutdownGraceMs } = config;
  const workers = new ClusterWorkers();
  const port = await workers.listen({ host, port: config.port });
  const supervisor = new Supervisor({
    count: config.workers,
    startWorker: () => workers.start(),
    stopListening: () => workers.stopListening(),
    graceMs: shutdownGraceMs,
    drainMsMax: shutdownGraceMs + drainMsMax + killAfterMs,
    address: { host, port, version: packageJson.version },
    events: createEvents({ logger: createLogger(config.logLevel, process.stdout), clock: effects.clock }),
    monotonicMs: effects.monotonicMs,
    pause: effects.pause,
  });
  const stopWithoutLog = (code: string) => {
    if (supervisor.stop("log lost", 1)) reportLostLog(code);
  };
  onLogLost(stopWithoutLog);
  void workers.logLost.then(stopWithoutLog);
  const exitAtOnce = () => {
    supervisor.kill();
    process.exit(1);
  };
  const stop = (signal: string) => void supervisor.stop(signal);
  // If the process was started from a terminal, a hangup means that the terminal is gone.
  if (isatty(0)) onStopSignal(stopSignals, stop, exitAtOnce);
  else {
    onStopSignal(["SIGTERM", "SIGINT"], stop, exitAtOnce);
    process.on("SIGHUP", () => void supervisor.roll());
  }
  return await supervisor.run();
}

/** The primary alone imports, before the first worker starts. */
async function superviseOrReport(loaded: Loaded): Promise<number> {
  try {
    if (loaded.config.moveIn !== undefined) {
      const { prepareMoveIn } = await import("./cli/move-in.ts");
      const exitCode = await prepareMoveIn(cliIo(), loaded);
      if (exitCode !== undefined) return exitCode;
    }
    return await supervise(loaded.config);
  } catch (error) {
    const { reportError } = await import("./cli/errors.ts");
    return reportError(error, { stderr: (text) => process.stderr.write(text) });
  }
}

/**
 * @returns undefined unless this process has to start workers. Wrong settings are undefined as well: the command reports
 * them.
 */
function settingsForWorkers(argv: readonly string[]): Loaded | undefined {
  if (cluster.isWorker || !(argv.length === 0 || (argv.length === 1 && argv[0] === "serve"))) return undefined;
  const loaded = loadConfig(process.env, (path) => readFileSync(path, "utf8"));
  return loaded.ok && loaded.config.workers > 1 ? loaded : undefined;
}

/** If the reader is gone, an error event follows the failed write; without a listener it would end the process. */
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

/** The first signal lets the command clean up; a second one of the same name has its default effect. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of stopSignals) {
    process.once(name, () => controller.abort(new Error(`Interrupted (${name}): nothing was done.`)));
  }
  return controller.signal;
}

let isOutputWatched = false;

/** A reader that stops early, such as `head`, is not a failure of the command. */
function print(text: string): void {
  if (!isOutputWatched) {
    isOutputWatched = true;
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") return;
      process.stderr.write(`Standard output cannot be written (${error.code}).\n`);
      process.exit(1);
    });
  }
  process.stdout.write(text);
}

const cliIo = (): CliIo => ({
  stdout: print,
  stderr: (text) => process.stderr.write(text),
  stdoutIsTerminal: isatty(1),
  pipe,
  stdin: process.stdin,
  interruption,
  environment: process.env,
  ...effects,
  assetsDir,
  version: packageJson.version,
  serve,
});

async function runCommand(argv: readonly string[]): Promise<number> {
  const { runCli } = await import("./cli/cli.ts");
  return await runCli(argv, cliIo());
}

// Files that this process creates are accessible to its user only.
process.umask(0o077);
const argv = process.argv.slice(2);
const settings = settingsForWorkers(argv);
process.exitCode = settings === undefined ? await runCommand(argv) : await superviseOrReport(settings);
// The IPC channel between primary and worker, and pending timers, would keep the process running.
if (settings !== undefined || cluster.isWorker) process.exit();
