import { AppError, errorCode } from "../base/errors.ts";
import { systemErrorCode, systemReason } from "../base/system-error.ts";
import { type CliIo, exitCodes } from "./cli-io.ts";

/** The command cannot be executed; the message is one sentence for the operator. */
export class CommandRefused extends Error {
  override readonly name = "CommandRefused";
}

/** Mistakes in settings, which prevent every command, or in the options of one. */
export class WrongSettings extends Error {
  override readonly name = "WrongSettings";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.mistakes = mistakes;
  }
}

/** Prints what went wrong on stderr, without a stack. @returns the exit code. */
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
  if (!(error instanceof Error)) return "Something that is not an error was thrown.";
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

/** The operating system's message starts with a system call; an operator needs the address or the path. */
function systemRefusal(error: Error): string | undefined {
  const code = systemErrorCode(error);
  if (code === undefined) return undefined;
  const { syscall, path, address, port, hostname } = { ...error } as Readonly<Record<string, unknown>>;
  // All other names are looked up by what reports its own problems.
  if (syscall === "getaddrinfo") {
    return `The server cannot listen on ${hostname} (${systemReason(error)}): check HOST and PWP__PUBLIC_GATEWAY_HOST.`;
  }
  if (syscall === "listen") {
    const listenAddress = port === undefined ? `${address}` : `${address} port ${port}`;
    const reason = code === "EADDRINUSE" ? "another process already listens there" : systemReason(error);
    return `The server cannot listen on ${listenAddress} (${reason}): check HOST and PORT.`;
  }
  if (typeof path !== "string") return undefined;
  return code === "ENOENT"
    ? `${oneLine(path)} does not exist.`
    : `${oneLine(path)} cannot be used (${systemReason(error)}).`;
}

function driverCode(error: unknown): string | undefined {
  const code = errorCode(error);
  return code?.startsWith("SQLITE_") === true ? code : undefined;
}

/** Parts of it may come from a server or from the command line: they must not change a terminal. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}
