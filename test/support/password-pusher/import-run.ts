import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { startTestApp, type TestApp } from "../app.ts";
import { makeTestCli, type TestCli } from "../cli.ts";
import { TestClock } from "../domain.ts";
import { expected, referenceTime } from "./expected.ts";
import type { Installation } from "./installations.ts";

type InstallationFiles = Pick<Installation, "database" | "storage" | "environment" | "folder">;

/** The arguments of the import command. Also writes the env file of the installation. */
export function importOf(installation: InstallationFiles, ...more: readonly string[]): readonly string[] {
  const envFile = join(installation.folder, "env");
  const lines = Object.entries(installation.environment).map(([name, value]) => `${name}=${value ?? ""}\n`);
  writeFileSync(envFile, lines.join(""));
  const storage = installation.storage.flatMap((place) => ["--storage", place]);
  return ["import", "password-pusher", "--database", installation.database, ...storage, "--env-file", envFile, ...more];
}

/** The arguments of the command that compares what was imported with the installation. */
export function verificationOf(installation: InstallationFiles): readonly string[] {
  return importOf(installation).map((argument) => (argument === "password-pusher" ? "verify" : argument));
}

export interface ImportTarget {
  readonly cli: TestCli;
  readonly clock: TestClock;
  run(installation: InstallationFiles, ...more: readonly string[]): ReturnType<TestCli["run"]>;
  verify(installation: InstallationFiles): ReturnType<TestCli["run"]>;
  /** Starts a server on the imported data. It stops at the end of the test. */
  serve(environment?: Readonly<Record<string, string>>): Promise<TestApp>;
}

/** A new Sealpush installation, at the reference time of the fixture. */
export function makeImportTarget(): ImportTarget {
  const clock = new TestClock(referenceTime);
  const cli = makeTestCli({ clock, monotonicMs: () => clock.now() });
  return {
    cli,
    clock,
    run: (installation, ...more) => cli.run(importOf(installation, ...more)),
    verify: (installation) => cli.run(verificationOf(installation)),
    async serve(environment = {}) {
      const app = await startTestApp({ dataDir: cli.dataDir, clock, environment });
      onTestFinished(() => app[Symbol.asyncDispose]());
      return app;
    },
  };
}

export const pushTagged = (tag: string) => {
  const push = expected.production.pushes.find((each) => each.tag === tag);
  if (push === undefined) throw new Error(`No push is tagged ${tag}.`);
  return push;
};

export const retrieve = async (app: TestApp, tag: string) => {
  const answer = await app.server.inject({ url: `/api/v2/pushes/${pushTagged(tag).url_token}` });
  return { status: answer.statusCode, body: answer.json() };
};

/** The report of a run at the path of --report. */
export function withReport(target: ImportTarget) {
  const path = join(dirname(target.cli.dataDir), "report.json");
  return {
    options: ["--report", path],
    path,
    read: () => JSON.parse(readFileSync(path, "utf8")),
    text: () => readFileSync(path.replace(".json", ".txt"), "utf8"),
  };
}

/** Rows of the report, such as "pushes 7 left_out". */
export const problemsOf = (report: ReturnType<typeof withReport>): string[] =>
  report.read().problems.map(({ table, id, effect }: Record<string, unknown>) => `${table} ${id} ${effect}`);

export const lostKey = `pushes ${pushTagged("sealed-lost-key").id} left_out`;
