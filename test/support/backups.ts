import { expect, onTestFinished } from "vitest";
import { makeTestCli, type TestCli } from "./cli.ts";
import { openTestDomain, TestClock, type TestDomain } from "./domain.ts";
import { makeFolder } from "./folders.ts";

/** The master key of these tests, in the format of the setting. */
export const keySettings = { PWPUSH_MASTER_KEY: "5ea1".repeat(16) };

type Settings = Readonly<Record<string, string>>;

export interface BackupFixture {
  readonly cli: TestCli;
  readonly clock: TestClock;
  /** A folder for backups and restored domains. */
  readonly backupDir: string;
  /** Opens a domain. It is closed at the end of the test at the latest. */
  open(dataDir?: string, settings?: Settings): Promise<TestDomain>;
  /** Runs a command that has to succeed without a warning. @returns its output. */
  run(argv: readonly string[], more?: { dataDir?: string; stdin?: Buffer; settings?: Settings }): Promise<string>;
  /** Runs a command that has to be refused. @returns the error message. */
  refused(argv: readonly string[], more?: { dataDir?: string; stdin?: Buffer; settings?: Settings }): Promise<string>;
}

/** Commands and domains in this process, with one clock and one master key. */
export function makeBackupFixture(clock = new TestClock()): BackupFixture {
  const cli = makeTestCli({ clock });
  const run: BackupFixture["cli"]["run"] = (argv, more) => cli.run(argv, more);
  const environment = (dataDir: string | undefined, settings: Settings = keySettings) => ({
    ...settings,
    DATA_DIR: dataDir ?? cli.dataDir,
  });
  return {
    cli,
    clock,
    backupDir: makeFolder(),
    async open(dataDir = cli.dataDir, settings = keySettings) {
      const opened = await openTestDomain({ dataDir, clock, environment: settings });
      let open = true;
      const close = async () => {
        if (open) await opened[Symbol.asyncDispose]();
        open = false;
      };
      onTestFinished(close);
      return { ...opened, [Symbol.asyncDispose]: close };
    },
    async run(argv, { dataDir, stdin = Buffer.alloc(0), settings } = {}) {
      const { exitCode, stdout, stderr } = await run(argv, { stdin, environment: environment(dataDir, settings) });
      expect(stderr).toBe("");
      expect(exitCode).toBe(0);
      return stdout;
    },
    async refused(argv, { dataDir, stdin = Buffer.alloc(0), settings } = {}) {
      const { exitCode, stdout, stderr } = await run(argv, { stdin, environment: environment(dataDir, settings) });
      expect(stdout).toBe("");
      expect(exitCode, stderr).not.toBe(0);
      return stderr;
    },
  };
}
