import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** The program as it is shipped: `npm test` builds it first. */
const program = resolve(import.meta.dirname, "../../dist/main.js");

type Environment = Readonly<Record<string, string>>;

export interface ProcessRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A data folder that goes away with the test. */
export function newDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-data-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "data");
}

/** Nothing of the tester's own environment but the way to programs: settings there must not decide a test. */
function spawnProgram(argv: readonly string[], environment: Environment): ChildProcess {
  return spawn(process.execPath, [program, ...argv], { env: { PATH: process.env.PATH, ...environment } });
}

/** Runs one command in a process of its own, to its end. */
export async function runProgram(argv: readonly string[], environment: Environment, stdin = ""): Promise<ProcessRun> {
  const child = spawnProgram(argv, environment);
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

/** A server in a process of its own, on a free port of the loopback; it ends with the test. */
export async function startServerProcess(
  environment: Environment,
): Promise<{ readonly origin: string; readonly port: number }> {
  const child = spawnProgram(["serve"], { PORT: "0", ...environment });
  const errors = textOf(child.stderr);
  const ended = new Promise<void>((done) => child.on("close", () => done()));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  if (child.stdout === null) throw new Error("The server has no standard output.");
  for await (const line of createInterface(child.stdout)) {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== "object" || entry === null || !("event" in entry) || entry.event !== "server_started")
      continue;
    if (!("port" in entry) || typeof entry.port !== "number") throw new Error("The server does not say its port.");
    child.stdout.resume();
    return { origin: `http://127.0.0.1:${entry.port}`, port: entry.port };
  }
  throw new Error(`The server did not start: ${await errors}`);
}
