import type { Command } from "commander";
import { sealedElsewhere } from "../domain.ts";
import { rotateKeys } from "../pushes/maintenance/rotate.ts";
import { type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { refuseWithoutData, withDomain } from "./open-store.ts";
import { getConfig } from "./settings.ts";

const procedure = `
To change the master key: print a new one with "keys generate"; put it in PWPUSH_MASTER_KEY and the old one in
PWPUSH_MASTER_KEY_PREVIOUS; restart the server; run "keys rotate" with the same settings; then take the old one out.`;

export function addKeysRotate(keys: Command, { io }: CommandDeps): void {
  keys
    .command("rotate")
    .description("Seal everything that an older master key seals anew under the active one, while the server runs.")
    .addHelpText("after", procedure + exitCodesHelp)
    .action(async () => {
      const config = getConfig(io);
      await refuseWithoutData(config, io);
      await withDomain(config, io, async ({ db, keyring }) => {
        const report = await rotateKeys({ db, keyring, sealedElsewhere, clock: io.clock, pause: io.pause });
        io.stdout(`Sealed ${report.resealed} values of ${report.pushes} pushes anew under key ${keyring.ids[0]}.\n`);
        const retired = report.retiredKeyIds.filter((id) => keyring.has(id));
        if (retired.length > 0) {
          io.stdout(`Nothing needs the older keys any more, they can be removed: ${retired.join(", ")}.\n`);
        }
      });
    });
}
