import { AppError } from "../base/errors.ts";
import { type CliIo, exitCodes } from "./cli-io.ts";

/** The command cannot be done; the message is one sentence for the operator. */
export class CommandRefused extends Error {
  override readonly name = "CommandRefused";
}

/** Settings that stop every command, one sentence each. */
export class WrongSettings extends Error {
  override readonly name = "WrongSettings";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super("Some settings are wrong.");
    this.mistakes = mistakes;
  }
}

/** Says on stderr what went wrong, never with a stack. @returns the exit code. */
export function reportError(error: unknown, io: Pick<CliIo, "stderr">): number {
  if (error instanceof WrongSettings) {
    for (const mistake of error.mistakes) io.stderr(`${mistake}\n`);
    return exitCodes.usage;
  }
  io.stderr(`${sentenceOf(error)}\n`);
  return exitCodes.failed;
}

/** One line that an operator can act on. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return "Something failed that threw no error.";
  if (error instanceof AppError && error.fields !== undefined) return Object.values(error.fields).flat().join(" ");
  const code = driverCode(error);
  if (code !== undefined) return `The database cannot be used (${code}): ${oneLine(error.message)}.`;
  const cause = driverCode(error.cause);
  return cause === undefined ? oneLine(error.message) : `${oneLine(error.message)} (${cause})`;
}

function driverCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return error.code.startsWith("SQLITE_") ? error.code : undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
