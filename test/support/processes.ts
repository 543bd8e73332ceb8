import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { settingsOfEngine } from "./engine.ts";
import { makeFolder } from "./folders.ts";
import { compiledOnce, program } from "./run/program.ts";

/** Node with the options that the program's start commands give it. */
export const node = [process.execPath, "--disable-sigusr1"] as const;

/** A start needs no garbage collection then, a fifteenth of its time. A launcher may limit the memory, so it starts Node as it is. */
const roomForStart = "--min-semi-space-size=16";

type Environment = Readonly<Record<string, string>>;

export interface ProcessRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A data folder that is removed after the test. */
export function newDataDir(parent?: string): string {
  const folder = makeFolder(parent);
  return join(folder, "data");
}

/**
 * Only PATH of the current environment, because settings in it must not affect a test.
 * @param launcher a program with its arguments that replaces itself with the server.
 */
export function spawnProgram(
  argv: readonly string[],
  environment: Environment,
  launcher: readonly string[] = [],
): ChildProcess {
  const started = launcher.length > 0 ? node : [...node, roomForStart];
  const [command = process.execPath, ...rest] = [...launcher, ...started, "--", program, ...argv];
  return spawn(command, rest, { env: { PATH: process.env.PATH, ...compiledOnce, ...environment } });
}

/** Runs one command in its own process and waits for its end. */
export async function runProgram(
  argv: readonly string[],
  environment: Environment,
  stdin = "",
  launcher: readonly string[] = [],
): Promise<ProcessRun> {
  const database = await settingsOfEngine(environment.DATA_DIR, environment);
  return await runToItsEnd(spawnProgram(argv, { ...database, ...environment }, launcher), stdin);
}

export async function runToItsEnd(child: ChildProcess, stdin = ""): Promise<ProcessRun> {
  const stdout = textOf(child.stdout);
  const stderr = textOf(child.stderr);
  child.stdin?.end(stdin);
  const exitCode = await new Promise<number | null>((done, failed) => child.on("close", done).on("error", failed));
  return { exitCode, stdout: await stdout, stderr: await stderr };
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = "";
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}
