import type { Config } from "../config/config.ts";
import type { Effects } from "../domain.ts";

/** What a command has of the world beyond files and sockets. */
export interface CliIo extends Effects {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** A person looks at the standard output. */
  readonly stdoutIsTerminal: boolean;
  /** Bytes into the standard output; resolves when the other side has taken them. @throws when it is gone. */
  readonly pipe: (bytes: Uint8Array) => Promise<void>;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted, with a reason to print, by a signal that would end the process: for commands that have to clean up. */
  readonly interruption: () => AbortSignal;
  /** Of the application. */
  readonly version: string;
  /** Runs the server until it is told to stop. @returns the exit code. */
  readonly serve: (config: Config, warnings: readonly string[]) => Promise<number>;
}

/** Documented in every command's help. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

export const exitCodesHelp = `
Exit codes: 0 done; 1 refused or failed; 2 the command line or a setting is wrong.
Settings come from the environment, as for the server: see "config check".`;

export interface CommandDeps {
  readonly io: CliIo;
  /** For commands whose outcome is not simply "done". */
  readonly setExitCode: (code: number) => void;
}
