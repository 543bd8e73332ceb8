import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { nodeOn } from "./cores.ts";

/** This build. */
export const ownProgram = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Turns off throttling, which would limit the measurement. Everything else is as `npm start` and the image have it. */
const settings = {
  PORT: "0",
  PWP__THROTTLING__MINUTE: "unlimited",
  PWP__THROTTLING__SECOND: "unlimited",
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "32768",
};

/** The number of write units and of commits over the life of the process. */
export interface CommitCounts {
  readonly commits: number;
  readonly units: number;
}

export interface SealpushProcess {
  readonly pid: number;
  readonly port: number;
  /** @returns the counts that a single process on SQLite logs at its end. */
  stop(): Promise<CommitCounts>;
  end(): Promise<void>;
}

/** A built server on a data folder of its own. */
export async function startSealpush(
  core: number | undefined,
  dataDir: string,
  more: Readonly<Record<string, string>> = {},
  program = ownProgram,
): Promise<SealpushProcess> {
  const [command, parameters] = nodeOn(core, [program, "serve"]);
  const child = spawn(command, parameters, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env.PATH, ...settings, ...more, DATA_DIR: dataDir },
  });
  const closed = once(child, "close");
  const started = logEntry(child, "server_started");
  const early = closed.then((): never => {
    throw new Error("The server ended. Was it built (npm run -s build)?");
  });
  const port = numberIn(await Promise.race([started, early]), "port");
  if (child.pid === undefined) throw new Error("The server has no process id.");
  return {
    pid: child.pid,
    port,
    async stop() {
      const stopped = logEntry(child, "server_stopped");
      child.kill("SIGTERM");
      const entry = await Promise.race([stopped, early]);
      await closed;
      return { commits: numberIn(entry, "commits"), units: numberIn(entry, "units") };
    },
    async end() {
      child.kill("SIGTERM");
      await closed;
    },
  };
}

/** Runs an operator's command. @returns its output. */
export function runSealpush(dataDir: string, parameters: readonly string[], input: string): string {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir };
  const run = spawnSync(process.execPath, [ownProgram, ...parameters], { env, input, encoding: "utf8" });
  if (run.status !== 0) throw new Error(`sealpush ${parameters.join(" ")} failed: ${run.stderr}`);
  return run.stdout.trim();
}

/** Waits for an event. Other lines are not parsed: there is one per request. */
function logEntry(child: ChildProcess, event: string): Promise<object> {
  const { stdout } = child;
  if (stdout === null) throw new Error("The server's output is not piped.");
  return new Promise((resolve) => {
    const lines = createInterface(stdout);
    lines.on("line", (line) => {
      if (!line.includes(`"${event}"`)) return;
      const entry: unknown = JSON.parse(line);
      if (typeof entry !== "object" || entry === null || Reflect.get(entry, "event") !== event) return;
      lines.close();
      stdout.resume();
      resolve(entry);
    });
  });
}

function numberIn(entry: object, name: string): number {
  const value: unknown = Reflect.get(entry, name);
  if (typeof value !== "number") throw new Error(`The server does not log its ${name}.`);
  return value;
}
