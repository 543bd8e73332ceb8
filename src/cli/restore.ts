import { type Command, Option } from "commander";
import { type RestoreReport, type RestoreRequest, restoreBackup } from "../backup/restore-backup.ts";
import type { Config } from "../config/config.ts";
import { createKeyring } from "../crypto/keyring.ts";
import { openBlobs, openDomain } from "../domain.ts";
import { described, sourceOf, usage } from "./backup.ts";
import { type CliIo, type CommandDeps, exitCodesHelp } from "./cli-io.ts";
import { getEmbeddedDatabase } from "./embedded-database.ts";
import { getMasterKeys } from "./master-keys.ts";
import { eventsFor } from "./open-store.ts";
import { getConfig } from "./settings.ts";
import { shell } from "./user-change.ts";

const choice = `A backup does not know which views were spent since it was made. Say what becomes of the pushes that lived then:
  --keep-open  they stay open with the views they had: what was opened or deleted since can be opened once more
  --end-all    every one is ended and its secret destroyed: nothing is opened twice, and senders send again`;

const more = `
${choice}

Restores into an empty data folder with the settings of the server, master key included, and overwrites nothing. In both
ways people sign in anew, links in mails are void, and mails that waited are dropped. See docs/operations.md.`;

interface Options {
  readonly from: string;
  readonly keepOpen?: true;
  readonly endAll?: true;
  readonly revokeTokens?: true;
}

export function addRestore(program: Command, { io }: CommandDeps): void {
  const restore = program
    .command("restore")
    .description("Put a backup into an empty data folder.")
    .requiredOption("--from <place>", "a folder, a tar file, or - for a tar on the standard input")
    .addOption(new Option("--keep-open", "live pushes stay open").conflicts("endAll"))
    .option("--end-all", "live pushes are ended")
    .option("--revoke-tokens", "revoke all API tokens: those that were revoked since the backup would work again")
    .addHelpText("after", more + exitCodesHelp)
    .action(async (options: Options) => {
      if (options.keepOpen === undefined && options.endAll === undefined) return restore.error(choice, usage);
      await runRestore(io, {
        source: sourceOf(options.from, io),
        livePushes: options.keepOpen === true ? "keep_open" : "end_all",
        revokeTokens: options.revokeTokens === true,
      });
    });
}

async function runRestore(io: CliIo, request: RestoreRequest): Promise<void> {
  const config = getConfig(io);
  const databasePath = getEmbeddedDatabase(config);
  const masterKeys = getMasterKeys(config, io.random);
  for (const warning of masterKeys.warnings) io.stderr(`${warning}\n`);
  const inWork = (place: { readonly dataDir: string; readonly databasePath: string }): Config => ({
    ...config,
    dataDir: place.dataDir,
    database: { engine: "sqlite", path: place.databasePath },
    masterKeys: masterKeys.keys,
    files: { ...config.files, s3: undefined },
    mail: undefined,
    singleSignOn: undefined,
  });
  const report = await restoreBackup(
    {
      dataDir: config.dataDir,
      databasePath,
      keyring: createKeyring(masterKeys.keys, io.random),
      now: () => io.clock.now(),
      by: shell,
      openDomain: (place) => openDomain(inWork(place), io, eventsFor(io)),
      blobsElsewhere: config.files.s3 === undefined ? undefined : await openBlobs(config, io),
      stop: io.interruption(),
    },
    request,
  );
  for (const sentence of sentencesOf(report, request, config)) io.stdout(`${sentence}\n`);
}

function sentencesOf({ manifest, pushesEnded, revived }: RestoreReport, request: RestoreRequest, config: Config) {
  const { sessionsEnded, emailsDropped, tokensRevoked, tokensInUse } = revived;
  const endedAll = request.livePushes === "end_all";
  return [
    `Restored to ${config.dataDir}: ${described(manifest)}.`,
    endedAll
      ? `Ended ${pushesEnded} pushes: their links open nothing any more.`
      : `Live pushes are open with the views they had at the backup${pushesEnded === 0 ? "" : `, but for ${pushesEnded} whose files are not in it`}.`,
    `Signed out ${sessionsEnded} sessions; links in mails are void; ${emailsDropped} mails that waited were dropped.`,
    tokensRevoked > 0
      ? `Revoked ${tokensRevoked} API tokens.`
      : `${tokensInUse} API tokens work, also those that were revoked since the backup.`,
    "Users, passwords, second factors and backup codes are as they were at the backup: who was disabled or deleted, or " +
      `changed a password since, is to be looked at again ("user list").`,
  ];
}
