import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { type CliIo, runCli } from "../../src/cli/cli.ts";
import { settingsOfEngine } from "./engine.ts";
import { makeFolder } from "./folders.ts";

interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestCli {
  /** Does not exist until a command creates it. */
  readonly dataDir: string;
  run(
    argv: readonly string[],
    more?: { readonly stdin?: string | Buffer; readonly environment?: Environment },
  ): Promise<CliRun>;
}

export const email = "ada@example.com";
export const password = "correct horse battery";
export const createUser = ["user", "create", "--email", email, "--password-stdin"];

type Environment = CliIo["environment"];

/** Runs commands in this process, on a data folder that is removed after the test. */
export function makeTestCli(overrides: Partial<CliIo> = {}): TestCli {
  const folder = makeFolder();
  const dataDir = join(folder, "data");
  return {
    dataDir,
    async run(argv, more = {}) {
      const said = { stdout: "", stderr: "" };
      const exitCode = await runCli(argv, {
        stdout: (text) => {
          said.stdout += text;
        },
        stderr: (text) => {
          said.stderr += text;
        },
        stdoutIsTerminal: false,
        pipe: async (bytes) => {
          said.stdout += Buffer.from(bytes).toString("latin1");
        },
        interruption: () => new AbortController().signal,
        stdin: oneChunk(Buffer.from(more.stdin ?? "")),
        environment: { ...(await settingsOfEngine(dataDir, more.environment)), DATA_DIR: dataDir, ...more.environment },
        clock: systemClock,
        correctClock: () => undefined,
        random: systemRandom,
        monotonicMs: () => performance.now(),
        pause: async () => undefined,
        abortAfter: (ms) => AbortSignal.timeout(ms),
        version: "1.2.3",
        serve: async () => {
          throw new Error("No server was expected to start.");
        },
        ...overrides,
      });
      return { exitCode, ...said };
    },
  };
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Also creates the data folder. */
export async function makeCliUser(cli: TestCli): Promise<void> {
  const made = await cli.run(createUser, { stdin: password });
  if (made.exitCode !== 0) throw new Error(made.stderr);
}
