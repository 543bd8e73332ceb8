import type { Command } from "commander";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";

const masterKeyBytes = 32;

export function addKeysGenerate(keys: Command, { io }: CommandDeps): void {
  keys
    .command("generate")
    .description("Print a new master key, 64 hex digits. Nothing is stored or changed.")
    .addHelpText("after", exitCodesHelp)
    .action(() => io.stdout(`${io.random.bytes(masterKeyBytes).toString("hex")}\n`));
}
