import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../free-port.ts";
import type { RunAs } from "./binaries.ts";

/** A background program. The program and its folder are removed when this process ends, however it ends. */
export interface GuardedProcess {
  /** SIGINT, and waits for the end of all its processes. The folder stays. */
  stop(): Promise<void>;
  /** SIGKILL to it and its children at once, and waits for their end. The folder stays. */
  kill(): Promise<void>;
  /** Stops as fast as possible without leaving processes or files, and removes the folder. */
  remove(): Promise<void>;
}

export interface GuardedProgram {
  readonly folder: string;
  readonly runAs: RunAs | null;
  readonly command: readonly [string, ...string[]];
  /** The signal that ends it at once with all its processes. */
  readonly endsBy: "QUIT" | "TERM";
  /** The text on standard error that says that it is ready. */
  readonly readyLine: RegExp;
  readonly onLine: (line: string) => void;
}

/** Passed as text, because the other account may not be able to read the folder of the file. */
const guardian = readFileSync(resolve(import.meta.dirname, "guardian.sh"), "utf8");
const portsTriedMax = 5;

/** Without the current environment, and with messages in English, because some are parsed. */
export const bareEnvironment = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };

/** Resolves when the program is ready. @throws an error with its output if it ends before. */
export async function startGuarded(program: GuardedProgram): Promise<GuardedProcess> {
  const { folder, runAs, command, endsBy, readyLine, onLine } = program;
  // In its own session: Ctrl-C in the terminal must reach only the tests, which stop the program themselves.
  const child = spawn("sh", ["-c", guardian, "guardian", folder, endsBy, ...command], {
    ...runAs,
    cwd: folder,
    env: bareEnvironment,
    detached: true,
  });
  const closed = once(child, "close");
  const pid = new Promise<number>((done) => child.stdout.once("data", (text) => done(Number(text))));
  const said: string[] = [];
  await new Promise<void>((ready, failed) => {
    const log = createInterface(child.stderr);
    log.on("line", (line) => {
      onLine(line);
      if (readyLine.test(line)) ready();
      else if (said.length < 100) said.push(line);
    });
    log.on("close", () => failed(new Error(`${command[0]} has not started:\n${said.join("\n")}`)));
    child.on("error", failed);
  });
  const end = async (wish: "keep" | "remove") => {
    child.stdin.end(`${wish}\n`);
    await closed;
  };
  const first = await pid;
  return {
    stop: () => end("keep"),
    async kill() {
      killWithChildren(first);
      await end("keep");
    },
    remove: () => end("remove"),
  };
}

/** Starts a program on a free port. Another process may take the port before the program listens; then it is retried. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (tried === portsTriedMax || !/Address already in use/.test(String(error))) throw error;
    }
  }
}

/** The first process is stopped before it is killed, so that it cannot start others meanwhile. */
function killWithChildren(pid: number): void {
  process.kill(pid, "SIGSTOP");
  for (const child of childrenOf(pid)) process.kill(child, "SIGKILL");
  process.kill(pid, "SIGKILL");
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    // proc(5): the name in brackets may contain spaces; state and parent follow it.
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
  } catch (error) {
    const hasEnded = error instanceof Error && "code" in error && ["ENOENT", "ESRCH"].includes(String(error.code));
    if (hasEnded) return undefined;
    throw error;
  }
}
