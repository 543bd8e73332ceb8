import { systemReason } from "../base/system-error.ts";
import type { CliIo } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";

/** Prints what is shown only once. @param next what to do if standard output does not take it. @throws CommandRefused then. */
export async function printOnce(text: string, next: string, { pipe }: Pick<CliIo, "pipe">): Promise<void> {
  try {
    await pipe(Buffer.from(text));
  } catch (error) {
    const reason = systemReason(error);
    if (reason === undefined) throw error;
    throw new CommandRefused(`Standard output cannot be written (${reason}). ${next}`, { cause: error });
  }
}
