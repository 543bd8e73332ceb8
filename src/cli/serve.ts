import type { Command } from "commander";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { WrongSettings } from "./errors.ts";
import { loadSettings } from "./settings.ts";

export function addServe(program: Command, { io, setExitCode }: CommandDeps): void {
  program
    .command("serve")
    .description("Start the server; this is also what happens without a command.")
    .addHelpText("after", exitCodesHelp)
    .action(async () => {
      const loaded = loadSettings(io.environment);
      if (!loaded.ok) throw new WrongSettings(loaded.mistakes);
      setExitCode(await io.serve(loaded.config, loaded.warnings));
    });
}
