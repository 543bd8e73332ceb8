import { expect } from "vitest";
import { openTestDomain, stranger, TestClock } from "./domain.ts";
import { endpoints, type KnownPush, retrieve } from "./endpoints.ts";
import { newDataDir, runProgram } from "./processes.ts";
import { filesIn } from "./raw-files.ts";
import { startServer } from "./server.ts";

/** A data folder with one push that no process has open. */
export async function makeData(environment: Readonly<Record<string, string>> = {}) {
  const dataDir = newDataDir();
  await using fixture = await openTestDomain({ dataDir, environment, clock: new TestClock(Date.now()) });
  const payload = "still there";
  const { urlToken } = await fixture.domain.pushes.create({ payload, expireAfterViews: 1 }, stranger);
  return { dataDir, push: { urlToken, payload, views: 1 } };
}

interface RefusedStart {
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly launcher?: readonly string[];
}

/** Expects that the start ends with exit code 1 and one sentence on standard error. @returns the sentence. */
export async function refusedStart({ dataDir, environment = {}, launcher = [] }: RefusedStart): Promise<string> {
  const run = await runProgram(["serve"], { PORT: "0", DATA_DIR: dataDir, ...environment }, "", launcher);
  expect(run.exitCode, run.stderr).toBe(1);
  expect(run.stdout).not.toContain("server_started");
  expect(run.stderr).toMatch(/^\S[^\n]*\.\n$/);
  expect(run.stderr).not.toMatch(/\bat \S+:\d+/);
  return run.stderr;
}

/** Like `refusedStart`, and expects that the data folder is unchanged. */
export async function refusedUntouched(start: RefusedStart): Promise<string> {
  const before = filesIn(start.dataDir);
  const sentence = await refusedStart(start);
  expect(filesIn(start.dataDir)).toEqual(before);
  return sentence;
}

export async function expectIntact(dataDir: string, push: KnownPush): Promise<void> {
  const server = await startServer({ dataDir });
  expect(await retrieve(endpoints.apiV2, server.baseUrl, push)).toBe("payload");
}
