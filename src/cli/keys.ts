import type { Command } from "commander";
import { rotateKeys } from "../pushes/maintenance/rotate.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { refuseWithoutData, withDomain } from "./open-domain.ts";
import { getConfig } from "./settings.ts";

const masterKeyBytes = 32;

const rotationHelp = `
To change the master key: print a new one with "keys generate"; put it in PWPUSH_MASTER_KEY and the old one in
PWPUSH_MASTER_KEY_PREVIOUS; restart the server; run "keys rotate" with the same settings; then remove the old one.`;

export function addKeyCommands(program: Command, { io }: CommandDeps): void {
  const keys = program.command("keys").description("Manage master keys.");
  keys
    .command("generate")
    .description("Print a new master key, 64 hex digits. Nothing is stored or changed.")
    .addHelpText("after", exitCodesHelp)
    .action(() => io.stdout(`${io.random.bytes(masterKeyBytes).toString("hex")}\n`));
  keys
    .command("rotate")
    .description("Re-encrypt everything under the active master key, while the server runs.")
    .addHelpText("after", rotationHelp + exitCodesHelp)
    .action(async () => {
      const config = getConfig(io);
      await refuseWithoutData(config, io);
      await withDomain(config, io, async ({ db, keyring }) => {
        const report = await rotateKeys({ db, keyring, clock: io.clock, pause: io.pause });
        io.stdout(`Re-encrypted ${report.resealed} values under key ${keyring.ids[0]}.\n`);
        const retired = report.retiredKeyIds.filter((id) => keyring.has(id));
        if (retired.length > 0)
          io.stdout(`These older keys are not used any more and can be removed: ${retired.join(", ")}.\n`);
      });
    });
}
