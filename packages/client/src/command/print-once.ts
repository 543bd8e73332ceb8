import { type CommandIo, CommandRefused } from "./io.ts";

/**
 * Prints what exists nowhere else: the link of a new push, the content of a view that is spent.
 * @param lost what it means if standard output does not take it. @returns whether it does.
 */
export async function printOnce(text: string, lost: string, io: CommandIo): Promise<boolean> {
  try {
    await io.pipe(Buffer.from(text));
    return true;
  } catch (error) {
    if (!(error instanceof CommandRefused)) throw error;
    io.stderr(`${error.message} ${lost}\n`);
    return false;
  }
}
