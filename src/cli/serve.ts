import type { CliIo } from "./cli-io.ts";
import { reportError, WrongSettings } from "./errors.ts";
import { prepareMoveIn, serveOrExplain } from "./move-in.ts";
import { loadSettings } from "./settings.ts";

/** The server's start, without the other commands, whose loading would take a tenth of it. @returns the exit code. */
export async function serveAlone(io: CliIo): Promise<number> {
  try {
    return await serveCommand(io);
  } catch (error) {
    return reportError(error, io);
  }
}

/** @returns the exit code. @throws what `reportError` reports. */
export async function serveCommand(io: CliIo): Promise<number> {
  const loaded = loadSettings(io.environment);
  const stopped = await prepareMoveIn(io, loaded);
  if (!loaded.ok) throw new WrongSettings(loaded.mistakes);
  return stopped ?? (await serveOrExplain(io, loaded));
}
