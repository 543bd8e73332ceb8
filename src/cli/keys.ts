import { join } from "node:path";
import type { Command } from "commander";
import { renewAccess } from "../accounts/store/renew-access.ts";
import { themeParts } from "../branding/store/branding.ts";
import type { Config } from "../config/config.ts";
import { createProcessRegistry } from "../database/processes.ts";
import type { Domain } from "../domain.ts";
import { importedRows } from "../import/store/imported-rows.ts";
import { renewPolicies } from "../policies/store/tables.ts";
import { rotateKeys } from "../pushes/maintenance/rotate.ts";
import { renewPresets } from "../pushes/store/presets.ts";
import { replaceAccessSecret } from "../pushes/vault.ts";
import { rotatedColumns } from "../tables.ts";
import type { CommandDeps } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { refuseWithoutData, withData, withDomain } from "./open-domain.ts";
import { getConfig } from "./settings.ts";

const masterKeyBytes = 32;

const rotationHelp = `
To change the master key: print a new one with "keys generate"; put it in PWPUSH_MASTER_KEY and the old one in
PWPUSH_MASTER_KEY_PREVIOUS; restart the server (several processes: see docs/operations.md); run "keys rotate" with the same
settings; then remove the old one.`;

const replacementHelp = `
Everybody has to sign in again, with the same password and second factor. All API tokens, emailed links and backup codes end. Links of
pushes keep working. It is one transaction: if it is interrupted, nothing has changed.`;

/** The settings name no key of this server then, so there is none to change to. @throws CommandRefused */
function refuseWhileMovedIn({ moveIn, dataDir }: Config): void {
  if (moveIn === undefined) return;
  throw new CommandRefused(
    "While SEALPUSH_MOVE_IN is set, PWPUSH_MASTER_KEY and PWPUSH_MASTER_KEY_PREVIOUS are Password Pusher's, and this server has " +
      `one key, ${join(dataDir, "master.key")}. To change it, first remove SEALPUSH_MOVE_IN together with the variables of ` +
      'Password Pusher. See "Change the key" in docs/operations.md.',
  );
}

/**
 * In one transaction, so that an interruption changes nothing. @returns how many rows got a new MAC.
 * @throws CommandRefused while a server runs, which would go on with the old secret.
 */
async function replaceAccess({ db, keyring, vault }: Domain, io: CommandDeps["io"]): Promise<number> {
  const registry = createProcessRegistry(db);
  return await db.writeSerialized("keys", async (tx) => {
    const now = io.clock.now();
    const running = await registry.running(now, tx);
    if (running.length > 0) {
      throw new CommandRefused(
        `${running.length} server process(es) run on this database, or ended in the last half minute without saying so: stop them first.`,
      );
    }
    const onForgedRow = () => undefined;
    const fresh = await replaceAccessSecret(tx, { keyring, random: io.random, onForgedRow });
    await themeParts.renew(tx, vault.access, fresh, "name");
    await renewPolicies(tx, vault.access, fresh);
    await renewPresets(tx, vault.access, fresh);
    await importedRows.renew(tx, vault.access, fresh, "source", "kind", "sourceId");
    return await renewAccess(tx, vault.access, fresh, now);
  });
}

export function addKeyCommands(program: Command, { io }: CommandDeps): void {
  const keys = program.command("keys").description("Manage master keys.");
  keys
    .command("generate")
    .description("Print a new master key, 64 hex digits. Nothing is stored or changed.")
    .action(() => io.stdout(`${io.random.bytes(masterKeyBytes).toString("hex")}\n`));
  keys
    .command("replace-access")
    .description("Replace the secret behind all sign-ins. The server must be stopped.")
    .option("--yes", "confirm; without it, nothing is changed")
    .addHelpText("after", replacementHelp)
    .action(async ({ yes }: { yes?: true }) => {
      if (yes === undefined) {
        throw new CommandRefused(
          "This signs everybody out and ends all API tokens, emailed links and backup codes. Repeat it with --yes to confirm.",
        );
      }
      await withData(io, async (domain) => {
        const renewed = await replaceAccess(domain, io);
        io.stdout(`Replaced the access secret. ${renewed} accounts, passkeys and linked identities keep working.\n`);
      });
    });
  keys
    .command("rotate")
    .description("Re-encrypt everything under the active master key, while the server runs.")
    .addHelpText("after", rotationHelp)
    .action(async () => {
      const config = getConfig(io);
      refuseWhileMovedIn(config);
      await refuseWithoutData(config, io);
      await withDomain(config, io, async ({ db, keyring }) => {
        const report = await rotateKeys({ db, keyring, columns: rotatedColumns, clock: io.clock, pause: io.pause });
        io.stdout(`Re-encrypted ${report.resealed} values under key ${keyring.ids[0]}.\n`);
        const retired = report.retiredKeyIds.filter((id) => keyring.has(id));
        if (retired.length > 0)
          io.stdout(`These older keys are not used any more and can be removed: ${retired.join(", ")}.\n`);
      });
    });
}
