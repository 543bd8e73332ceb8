import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { runCommand } from "@sealpush/client/command";
import { onTestFinished } from "vitest";
import { harmless } from "../../packages/client/src/command/text.ts";
import { makeFolder } from "./folders.ts";
import { node, type ProcessRun, runToItsEnd } from "./processes.ts";
import { compiledOnce, program } from "./run/program.ts";
import { type Answer, runAtTerminal } from "./terminal.ts";

const programs = {
  /** The one program. */
  whole: program,
  /** The package by itself. */
  client: resolve(import.meta.dirname, "../../packages/client/dist/bin.js"),
} as const;

export interface ClientProgram {
  /** The working folder of the commands. */
  readonly folder: string;
  /** Where the configuration is stored. */
  readonly settings: string;
  run(argv: readonly string[], more?: RunOptions): Promise<ProcessRun>;
  /** Starts a command that the test talks to. It is ended after the test. */
  start(argv: readonly string[]): ChildProcessWithoutNullStreams;
  /** Runs a command at a terminal, which shows all of its output. */
  runAtTerminal(
    argv: readonly string[],
    answers: readonly Answer[],
  ): Promise<{ exitCode: number | null; shown: string }>;
}

interface RunOptions {
  readonly stdin?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The file that standard output is, instead of a pipe. */
  readonly stdoutFile?: string;
}

/**
 * Runs commands in folders that are removed after the test.
 * @param which "here": the commands of the source in this process, for tests that are about neither the program nor its process; what is
 * started, and what runs at a terminal or writes to a file, is the whole program.
 */
export function makeClientProgram(
  which: keyof typeof programs | "here",
  environment: Readonly<Record<string, string>> = {},
): ClientProgram {
  const home = makeFolder();
  const folder = join(home, "work");
  mkdirSync(folder);
  const settings = join(home, "config/sealpush");
  const base = {
    PATH: process.env.PATH,
    ...compiledOnce,
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    TERM: "xterm",
    ...environment,
  };
  const command = [...node, "--", programs[which === "here" ? "whole" : which]];
  return {
    folder,
    settings,
    start(argv) {
      const [executable = "", ...rest] = [...command, ...argv];
      const child = spawn(executable, rest, { cwd: folder, env: base });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    },
    run: async (argv, { stdin = "", environment: more = {}, stdoutFile } = {}) => {
      if (which === "here" && stdoutFile === undefined)
        return await runHere(argv, { stdin, folder, environment: { ...base, ...more } });
      const [executable = "", ...rest] = [...command, ...argv];
      const stdout = stdoutFile === undefined ? "pipe" : openSync(stdoutFile, "w");
      const env = { ...base, ...more };
      const child = spawn(executable, rest, { cwd: folder, env, stdio: ["pipe", stdout, "pipe"] });
      if (typeof stdout === "number") closeSync(stdout);
      return await runToItsEnd(child, stdin);
    },
    runAtTerminal: (argv, answers) => runAtTerminal([...command, ...argv], { cwd: folder, env: base }, answers),
  };
}

let isRunningHere = false;

/** One at a time: the working folder is that of the process. */
async function runHere(
  argv: readonly string[],
  { stdin, folder, environment }: { stdin: string; folder: string; environment: NodeJS.ProcessEnv },
): Promise<ProcessRun> {
  if (isRunningHere) throw new Error("Another command runs in this process.");
  isRunningHere = true;
  const former = process.cwd();
  process.chdir(folder);
  const stdout: Uint8Array[] = [];
  let stderr = "";
  const print = (text: string) => void stdout.push(Buffer.from(text));
  try {
    const exitCode = await runCommand(argv, {
      stdout: (text) => print(harmless(text, "\n\t")),
      pipe: async (bytes) => void stdout.push(bytes),
      stderr: (text) => {
        stderr += harmless(text, "\n\t");
      },
      status: () => undefined,
      stdin: Readable.from([Buffer.from(stdin)]),
      terminals: { stdin: false, stdout: false, stderr: false },
      ask: undefined,
      environment,
      homeFolder: environment.HOME ?? "",
      interruption: new AbortController().signal,
    });
    return { exitCode, stdout: Buffer.concat(stdout).toString(), stderr };
  } finally {
    process.chdir(former);
    isRunningHere = false;
  }
}

/** The settings that `login` writes. */
export function storeLogin({ settings }: ClientProgram, server: string, token: string, mode = 0o600): void {
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "config.json"), JSON.stringify({ server, token }), { mode });
}
