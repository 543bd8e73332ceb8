import type { ClientErrorCode } from "../errors.ts";

/** The input and output of a command, except files and the network. */
export interface CommandIo {
  /** For people: texts of a server cannot change the terminal, see `process-io.ts`. */
  readonly stdout: (text: string) => void;
  /** For programs: the very bytes. Resolves when the reader has taken them. @throws CommandRefused if it does not. */
  readonly pipe: (bytes: Uint8Array) => Promise<void>;
  /** For people, like `stdout`. */
  readonly stderr: (text: string) => void;
  /** Replaces the last line of the terminal at standard error; "": removes it. */
  readonly status: (line: string) => void;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** The streams that are terminals. */
  readonly terminals: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Asks the person at the terminal, also while standard input is a pipe. Undefined if there is none. */
  readonly ask: ((question: string, visibility: "shown" | "hidden") => Promise<string>) | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
  /** Aborted by a signal that would end the process. */
  readonly interruption: AbortSignal;
}

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  ended: 3,
  passphrase: 4,
  token: 5,
  unreachable: 6,
} as const;

export const exitCodesHelp = `Exit codes: 0 done; 1 refused or failed; 2 the command line, its input or the configuration is wrong; 3 the push
or the request has ended or does not exist; 4 the passphrase is wrong or missing; 5 the API token is missing or refused; 6 the
server cannot be reached or is busy.`;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeOf: Readonly<Record<ClientErrorCode, ExitCode>> = {
  unreachable: exitCodes.unreachable,
  unavailable: exitCodes.unreachable,
  too_many_requests: exitCodes.unreachable,
  not_this_api: exitCodes.usage,
  redirected: exitCodes.usage,
  unauthorized: exitCodes.token,
  forbidden: exitCodes.token,
  wrong_passphrase: exitCodes.passphrase,
  not_found: exitCodes.ended,
  invalid: exitCodes.failed,
  too_large: exitCodes.failed,
};

/** The command cannot be executed; the message is one sentence for the person who called it. */
export class CommandRefused extends Error {
  override readonly name = "CommandRefused";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What was given on the command line. */
export interface Given {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
}

/** @returns the exit code. */
export type RunVerb = (given: Given, io: CommandIo) => Promise<number>;

/** The value of an option that takes one. */
export function textOf({ values }: Given, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

/** The values of an option that may be given several times. */
export function textsOf({ values }: Given, name: string): readonly string[] {
  const given = values[name];
  return Array.isArray(given) ? given : [];
}

export function isSet({ values }: Given, name: string): boolean {
  return values[name] === true;
}

/** @throws CommandRefused if it is neither. */
export function yesOrNo(given: Given, name: string): boolean | undefined {
  const text = textOf(given, name);
  if (text === undefined || text === "yes" || text === "no") return text === undefined ? undefined : text === "yes";
  throw new CommandRefused(`--${name} must be yes or no.`, exitCodes.usage);
}

/** @throws CommandRefused if it is no whole number in the range. */
export function numberOf(given: Given, name: string, min: number, max: number): number | undefined {
  const text = textOf(given, name);
  if (text === undefined) return undefined;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new CommandRefused(`--${name} must be a whole number from ${min} to ${max}.`, exitCodes.usage);
}
