import type { Command } from "commander";
import { builtScripts } from "../http/built-assets.ts";
import { type CommandDeps, exitCodes } from "./cli-io.ts";
import { compareScripts, readServerAddress } from "./compare-scripts.ts";

export function addScriptsCommand(program: Command, { io, setExitCode }: CommandDeps): void {
  program
    .command("scripts")
    .description(
      "Print the hashes of the scripts of this build. Pages name the same ones in integrity attributes; open-sealed.js is the " +
        "one that decrypts end-to-end pushes.",
    )
    .option("--server <address>", "load the scripts of this running server and compare them with this build")
    .addHelpText("after", "\nExit codes: 0 done, or all scripts are the same; 1 they are not, or cannot be loaded.")
    .action(async ({ server }: { readonly server?: string }) => {
      const own = builtScripts(io.assetsDir);
      if (server === undefined) {
        for (const { integrity, path } of own) io.stdout(`${integrity}  ${path}\n`);
        return;
      }
      const compared = await compareScripts(readServerAddress(server), own);
      for (const { state, integrity, name } of compared) io.stdout(`${state.padEnd(9)}  ${integrity}  ${name}\n`);
      const others = compared.filter(({ state }) => state !== "same").length;
      if (others === 0) return;
      io.stderr(
        `Scripts that differ from this build: ${others} of ${compared.length}. Compare with the source of the same version.\n`,
      );
      setExitCode(exitCodes.failed);
    });
}
