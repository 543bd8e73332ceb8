import { type ChildProcess, spawn } from "node:child_process";
import { resolve as resolvePath } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { settingsOfEngine } from "./engine.ts";
import { spawnProgram } from "./processes.ts";

export interface Ending {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server in its own process, observed from outside: port, output, end. */
export interface ServerProcess {
  readonly baseUrl: string;
  readonly port: number;
  readonly pid: number;
  /** From spawning the process to its `server_started` line. */
  readonly startMs: number;
  /** Every line of standard output and standard error so far. */
  readonly logLines: readonly string[];
  /** Settles when the process has ended and its output was read to the end. */
  readonly ended: Promise<Ending>;
  /** Settles when this event was logged this many times. */
  logged(event: string, times?: number): Promise<void>;
  /** Closes the reading end of its standard output. */
  closeLog(): void;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Ending>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<Ending>;
}

export interface ServerOptions {
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A program and its arguments that replaces itself with the server, e.g. `prlimit --nproc=...`. */
  readonly launcher?: readonly string[];
}

type AtTheEnd = (end: () => Promise<void>) => void;

/** No minimum of free disk space and no throttling, which would affect tests of other things. */
const testEnvironment = {
  PORT: "0",
  PWP__DISK__FREE_MIN_BYTES: "0",
  PWP__THROTTLING__MINUTE: "unlimited",
  PWP__THROTTLING__SECOND: "unlimited",
};

/** Resolves when the server listens. It is stopped at the latest after the test. */
export function startServer(options: ServerOptions): Promise<ServerProcess> {
  return launchServer(options, onTestFinished);
}

/** @param atTheEnd registers the function that ends the server in any state. */
export async function launchServer(options: ServerOptions, atTheEnd: AtTheEnd): Promise<ServerProcess> {
  const environment = await environmentOf(options);
  return await watchServer(spawnProgram(["serve"], environment, options.launcher), atTheEnd);
}

// Without the build: the test run has done it, and it would replace files of running servers.
export const startByNpm = ["npm", "start", "--ignore-scripts"] as const;

/** Starts the server with the README's command; see `startServerByCommand`. */
export function startServerByNpm(options: Omit<ServerOptions, "launcher">): Promise<ServerProcess> {
  return startServerByCommand(startByNpm, options);
}

/** Runs a command at the root of the repository, in its own process group; `stop` and `kill` signal only its process. */
export async function startServerByCommand(
  [command, ...argv]: readonly [string, ...string[]],
  options: Omit<ServerOptions, "launcher">,
): Promise<ServerProcess> {
  const { PATH, HOME } = process.env;
  const child = spawn(command, argv, {
    cwd: resolvePath(import.meta.dirname, "../.."),
    detached: true,
    env: { PATH, HOME, ...(await environmentOf(options)) },
  });
  return await watchServer(child, onTestFinished);
}

async function environmentOf({ dataDir, environment }: ServerOptions): Promise<Readonly<Record<string, string>>> {
  return { ...testEnvironment, ...(await settingsOfEngine(dataDir, environment)), ...environment, DATA_DIR: dataDir };
}

async function watchServer(child: ChildProcess, atTheEnd: AtTheEnd): Promise<ServerProcess> {
  const spawnedAt = performance.now();
  const ended = endOf(child);
  atTheEnd(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const log = new Log(child);
  const port = await log.first(portIn, ended);
  const startMs = performance.now() - spawnedAt;
  const { pid } = child;
  if (pid === undefined) throw new Error("The server has no process id.");
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    port,
    pid,
    startMs,
    ended,
    logLines: log.lines,
    baseUrl: `http://127.0.0.1:${port}`,
    async logged(event, times = 1) {
      let seen = 0;
      const count = (line: string) => {
        if (line.includes(`"event":"${event}"`)) seen += 1;
        return seen === times ? true : undefined;
      };
      await log.first(count, ended);
    },
    closeLog: () => child.stdout?.destroy(),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve, reject) => {
    child.on("close", (exitCode, signal) => resolve({ exitCode, signal })).on("error", reject);
  });
}

class Log {
  readonly lines: string[] = [];
  readonly #onLine = new Set<(line: string) => void>();

  constructor(child: ChildProcess) {
    for (const output of [child.stdout, child.stderr]) {
      if (output === null) throw new Error("The server's outputs are not piped.");
      createInterface(output).on("line", (line) => {
        this.lines.push(line);
        for (const check of this.#onLine) check(line);
      });
    }
  }

  /** The first defined result of `find` for a line. Rejects if the process ends before. */
  first<T>(find: (line: string) => T | undefined, ended: Promise<Ending>): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = (line: string) => {
        const found = find(line);
        if (found === undefined) return;
        this.#onLine.delete(check);
        resolve(found);
      };
      this.#onLine.add(check);
      for (const line of this.lines) check(line);
      ended.then(() => reject(new Error(`The server has ended: ${this.lines.join("\n")}`)), reject);
    });
  }
}

function portIn(line: string): number | undefined {
  if (!line.includes('"event":"server_started"')) return undefined;
  const entry: unknown = JSON.parse(line);
  if (typeof entry !== "object" || entry === null || !("port" in entry) || typeof entry.port !== "number") {
    throw new Error("The server logged no port.");
  }
  return entry.port;
}
