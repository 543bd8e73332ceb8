import type { Command } from "commander";
import { integrityOf, readManifest } from "../http/built-assets.ts";
import type { CommandDeps } from "./cli-io.ts";

export function addScriptsCommand(program: Command, { io }: CommandDeps): void {
  program
    .command("scripts")
    .description(
      "Print the hashes of the scripts of this build. Pages name the same ones in integrity attributes; open-sealed.js is the " +
        "one that decrypts end-to-end pushes.",
    )
    .action(() => {
      for (const [name, fileName] of Object.entries(readManifest(io.assetsDir)).toSorted()) {
        if (!name.endsWith(".js") || typeof fileName !== "string") continue;
        io.stdout(`${integrityOf(io.assetsDir, fileName)}  /assets/${fileName}\n`);
      }
    });
}
