import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
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

/** Runs the built commands in folders that are removed after the test. */
export function makeClientProgram(
  which: keyof typeof programs,
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
  const command = [...node, "--", programs[which]];
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

/** The settings that `login` writes. */
export function storeLogin({ settings }: ClientProgram, server: string, token: string, mode = 0o600): void {
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "config.json"), JSON.stringify({ server, token }), { mode });
}
