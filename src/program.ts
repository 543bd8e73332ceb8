import { constants, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import packageJson from "../package.json" with { type: "json" };
import { CorrectedClock, systemClock, systemEvery } from "./base/clock.ts";
import { readPrivateBytes } from "./base/memory-shortage.ts";
import { systemRandom } from "./base/random.ts";
import { systemReason } from "./base/system-error.ts";
import type { CliIo } from "./cli/cli-io.ts";
import type { Config } from "./config/config.ts";
import type { Effects } from "./domain.ts";
import { terminalLog } from "./telemetry/terminal-log.ts";

const assetsDir = join(import.meta.dirname, "assets");

/** How long a stop may take after the grace period. */
const drainMsMax = 30_000;
/** Signals that arrive within this time count as one. */
const sameSignalMs = 1_000;

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
 * @returns the exit code.
 */
async function serve(config: Config, warnings: readonly string[]): Promise<number> {
  if (interrupted?.aborted === true) return 0;
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
  onStopSignal(stop, () => process.exit(1));
  const { startServer } = await import("./serve.ts");
  const logDestination = isatty(1) ? terminalLog(process.stdout, config) : process.stdout;
  const starting = startServer(config, warnings, {
    effects,
    every: systemEvery,
    logDestination,
    assetsDir,
    version: packageJson.version,
    memoryBytes: memoryBytes(),
    privateBytes: readPrivateBytes,
    abandoned: abandoned.signal,
    onSecretsMissed(error) {
      if (stop("secrets missed", { graceMs: 0, exitCode: 1 })) reportStop(error.message);
    },
  });
  onLogLost((code) => {
    if (stop("log lost", { exitCode: 1 })) reportStop(`The log cannot be written any more (${code}).`);
  });
  const removeErrorListeners = onUncaughtError((error) => {
    if (!stop("error", { graceMs: 0, exitCode: 1, error })) process.exit(1);
  });
  try {
    const app = await starting;
    const { cause, graceMs, idleMs, exitCode, error } = await stopped.promise;
    if (error !== undefined) app.events.jobFailed("process", error);
    app.events.serverStopping(cause);
    await app.close({ graceMs, idleMs });
    const { commits, transactions: units } = app.domain.db.counts;
    app.events.serverStopped({ commits, units });
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

/** Replaces the previous listeners; the first one is that of main.ts. There is always one: a signal that is pending would be lost. */
function onSignal(name: (typeof stopSignals)[number], listener: () => void): void {
  const previous = process.listeners(name);
  process.on(name, listener);
  for (const one of previous) process.off(name, one);
}

/**
 * A second signal ends the process at once. But npm forwards signals that a terminal or a supervisor has already sent to
 * the whole process group: two signals in quick succession count as one.
 */
function onStopSignal(stop: (signal: string) => void, exitAtOnce: () => void): void {
  let firstAt: number | undefined;
  for (const name of stopSignals) {
    onSignal(name, () => {
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

function reportStop(reason: string): void {
  process.stderr.write(`${reason} The server finishes running requests and stops.\n`);
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

/** The signal of a command that ran before the server, as an import does. */
let interrupted: AbortSignal | undefined;

/** The first signal lets the command clean up; a second one of the same name ends the process. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of stopSignals) {
    onSignal(name, () => {
      onSignal(name, () => process.exit(128 + constants.signals[name]));
      controller.abort(new Error(`Interrupted (${name}): nothing was done.`));
      // Ends a command that waits for its input, and gives it the reason.
      process.stdin.on("error", () => undefined).destroy(controller.signal.reason);
    });
  }
  interrupted = controller.signal;
  return controller.signal;
}

let isOutputWatched = false;

/** A reader that stops early, such as `head`, is not a failure of the command. */
function print(text: string): void {
  if (!isOutputWatched) {
    isOutputWatched = true;
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") return;
      process.stderr.write(`Standard output cannot be written (${systemReason(error)}).\n`);
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
  version: packageJson.version,
  serve,
});

async function runCommand(argv: readonly string[]): Promise<number> {
  const [command = "serve", ...rest] = argv;
  if (command === "serve" && rest.length === 0) {
    const { serveAlone } = await import("./cli/serve.ts");
    return await serveAlone(cliIo());
  }
  const { runCli } = await import("./cli/cli.ts");
  return await runCli(argv, cliIo());
}

// Files that this process creates are accessible to its user only.
process.umask(0o077);
process.exitCode = await runCommand(process.argv.slice(2));
