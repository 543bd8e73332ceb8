import type { Config } from "../config/config.ts";
import type { Effects } from "../domain.ts";

/** The input and output of a command, except files and sockets. */
export interface CliIo extends Effects {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stdoutIsTerminal: boolean;
  /** Writes to standard output; resolves when the reader has taken the bytes. @throws if the reader is gone. */
  readonly pipe: (bytes: Uint8Array) => Promise<void>;
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by a signal that would end the process, with a reason to print: for commands that have to clean up. */
  readonly interruption: () => AbortSignal;
  /** The version of the application. */
  readonly version: string;
  /** Runs the server until it is stopped. @returns the exit code. */
  readonly serve: (config: Config, warnings: readonly string[]) => Promise<number>;
}

/** Documented in every command's help. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

export const exitCodesHelp = `
Exit codes: 0 done; 1 refused or failed; 2 the command line or a setting is wrong.
Commands use the same settings from the environment as the server: see "config check".`;

export interface CommandDeps {
  readonly io: CliIo;
  /** For commands with exit codes other than "done". */
  readonly setExitCode: (code: number) => void;
}
