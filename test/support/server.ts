import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { spawnProgram } from "./processes.ts";

export interface Ending {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server in a process of its own, seen only from outside: its port, its output, its end. */
export interface ServerProcess {
  readonly baseUrl: string;
  readonly port: number;
  readonly pid: number;
  /** From spawning the process to its `server_started` line. */
  readonly startMs: number;
  /** Every line of both outputs so far. */
  readonly logLines: readonly string[];
  /** Settles when the process has ended and its outputs are read to their end. */
  readonly ended: Promise<Ending>;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<Ending>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<Ending>;
}

export interface ServerOptions {
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A program and its arguments that replaces itself by the server, e.g. `prlimit --nproc=...`. */
  readonly launcher?: readonly string[];
}

/** Room on any disk and no throttle: what is not the test's subject must not decide it. */
const testEnvironment = {
  PORT: "0",
  PWP__DISK__FREE_MIN_BYTES: "0",
  PWP__THROTTLING__MINUTE: "0",
  PWP__THROTTLING__SECOND: "0",
};

/** Returns when the server has said that it listens. It ends with the test at the latest. */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const environment = { ...testEnvironment, ...options.environment, DATA_DIR: options.dataDir };
  const spawnedAt = performance.now();
  const child = spawnProgram(["serve"], environment, options.launcher);
  const logLines: string[] = [];
  const ended = endOf(child);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const port = await listeningPort(child, logLines, ended);
  const startMs = performance.now() - spawnedAt;
  const { pid } = child;
  if (pid === undefined) throw new Error("The server has no process id.");
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    ...{ port, pid, startMs, logLines, ended },
    baseUrl: `http://127.0.0.1:${port}`,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve, reject) => {
    child.on("close", (exitCode, signal) => resolve({ exitCode, signal })).on("error", reject);
  });
}

function listeningPort(child: ChildProcess, logLines: string[], ended: Promise<Ending>): Promise<number> {
  return new Promise((resolve, reject) => {
    for (const output of [child.stdout, child.stderr]) {
      if (output === null) throw new Error("The server's outputs are not piped.");
      createInterface(output).on("line", (line) => {
        logLines.push(line);
        const port = portIn(line);
        if (port !== undefined) resolve(port);
      });
    }
    const refused = () => reject(new Error(`The server did not start: ${logLines.join("\n")}`));
    ended.then(refused, reject);
  });
}

function portIn(line: string): number | undefined {
  if (!line.includes('"event":"server_started"')) return undefined;
  const entry: unknown = JSON.parse(line);
  if (typeof entry !== "object" || entry === null || !("port" in entry) || typeof entry.port !== "number") {
    throw new Error("The server does not say its port.");
  }
  return entry.port;
}
