import { AppError } from "../base/errors.ts";
import { systemErrorCode } from "../config/system-error.ts";
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
  const refusal = systemRefusal(error);
  if (refusal !== undefined) return refusal;
  const cause = driverCode(error.cause);
  return cause === undefined || error.message.includes(cause)
    ? oneLine(error.message)
    : `${oneLine(error.message).replace(/\.$/, "")} (${cause}).`;
}

/** The operating system's own words name a system call first; an operator wants to know the place. */
function systemRefusal(error: Error): string | undefined {
  const code = systemErrorCode(error);
  if (code === undefined) return undefined;
  const { syscall, path, address, port } = { ...error } as Readonly<Record<string, unknown>>;
  if (syscall === "listen") {
    const place = port === undefined ? `${address}` : `${address} port ${port}`;
    const reason = code === "EADDRINUSE" ? "another process listens there already" : code;
    return `The server cannot listen on ${place} (${reason}): check HOST and PORT.`;
  }
  return typeof path === "string" ? `${oneLine(path)} cannot be used (${code}).` : undefined;
}

function driverCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return error.code.startsWith("SQLITE_") ? error.code : undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
