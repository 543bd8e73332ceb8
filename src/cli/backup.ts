import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { type BackupReport, createBackup } from "../backup/create-backup.ts";
import type { Manifest } from "../backup/manifest.ts";
import { type BackupSource, openBackup, openPipe, readBackup } from "../backup/read-backup.ts";
import { type RestoreReport, type RestoreRequest, restoreBackup } from "../backup/restore-backup.ts";
import type { Config } from "../config/config.ts";
import { refuseUnfinishedRestore } from "../config/data-folder.ts";
import { createKeyring, type Keyring } from "../crypto/keyring.ts";
import { embeddedFileOf, refuseForeignFile } from "../database/open-database.ts";
import { openBlobs, openDomain } from "../domain.ts";
import { type CliIo, type CommandDeps, exitCodes } from "./cli-io.ts";
import { counted } from "./counted.ts";
import { CommandRefused } from "./errors.ts";
import { eventsFor, findMasterKeys, getMasterKeys, refuseWithoutData, shell } from "./open-domain.ts";
import { getConfig } from "./settings.ts";

const backupHelp = `
Copies the database and the encrypted files while servers run, and reads the copy back before it gets its name. The master
key is not included: store it separately. See "Backup and restore" in docs/operations.md.`;

/** `backup`, `backup verify` and `restore`. */
export function addBackupCommands(program: Command, deps: CommandDeps): void {
  addBackup(program, deps);
  addRestore(program, deps);
}

function addBackup(program: Command, { io }: CommandDeps): void {
  const backup = program
    .command("backup")
    .description("Back up the embedded database and the encrypted files, while servers run.")
    .option(
      "--to <place>",
      "a new folder, or a new file that ends in .tar, outside of the data; or - for a tar on standard output",
    )
    .addHelpText("after", backupHelp)
    .action(async ({ to }: { readonly to?: string }) => {
      if (to === undefined) return backup.error("error: give a destination: --to <folder|file.tar|->", usage);
      await runBackup(io, to);
    });
  backup
    .command("verify")
    .description("Check a backup without restoring it: checksums, seal, database, and that no file is missing.")
    .requiredOption("--from <place>", "a folder, a tar file, or - for a tar on standard input")
    .action(async ({ from }: { readonly from: string }) => {
      const keyring = findKeyring(getConfig(io), io);
      const manifest = await verify(io, sourceOf(from, io), keyring);
      io.stdout(`The backup is complete: ${described(manifest)}.\n`);
      if (keyring !== undefined) return;
      io.stdout("There is no master key, so the backup was checked for damage only, not for manipulation.\n");
    });
}

/** For mistakes in the command line that commander cannot detect. */
const usage = { exitCode: exitCodes.usage };

/** @param from the value of `--from`. */
function sourceOf(from: string, io: Pick<CliIo, "stdin">): BackupSource {
  return from === "-" ? openPipe(io.stdin) : openBackup(from);
}

async function runBackup(io: CliIo, to: string): Promise<void> {
  if (to === "-" && io.stdoutIsTerminal) {
    throw new CommandRefused("Standard output is a terminal: redirect it to a file or a pipe.");
  }
  const config = getConfig(io);
  const databasePath = getEmbeddedDatabase(config);
  refuseUnfinishedRestore(config.dataDir);
  await refuseWithoutData(config, io);
  const masterKeys = getMasterKeys(config, io.random);
  for (const warning of masterKeys.warnings) io.stderr(`${warning}\n`);
  const report = await createBackup(
    {
      databasePath,
      dataDir: config.dataDir,
      blobs: await openBlobs(config, { ...io, isExpected }),
      keyring: createKeyring(masterKeys.keys, io.random),
      clock: io.clock,
      random: io.random,
      version: io.version,
      pipe: io.pipe,
      signal: io.interruption(),
    },
    to,
  );
  // In this case standard output is the archive.
  for (const sentence of backupSentences(report, to)) (to === "-" ? io.stderr : io.stdout)(`${sentence}\n`);
  const { pushesWithoutFiles } = report.manifest;
  if (pushesWithoutFiles.length > 0) {
    io.stderr(
      `The backup does not contain the files of pushes that ended meanwhile, or whose files are damaged or lost: number ` +
        `${shortened(pushesWithoutFiles)}. A restore ends these pushes.\n`,
    );
  }
}

/** A backup reads only files that the database names. */
const isExpected = async () => true;

function backupSentences({ manifest, readBack }: BackupReport, to: string): readonly string[] {
  return [
    `Backed up${to === "-" ? "" : ` to ${to}`}: ${described(manifest)}.`,
    readBack
      ? "It was read back and is complete. The master key is not included: store it separately."
      : `What was written to the pipe was not read back: use "backup verify". The master key is not included.`,
  ];
}

function described({ counts, createdAt, keyIds }: Manifest): string {
  const { pushes, livePushes, files, users } = counts;
  return (
    `the state of ${new Date(createdAt).toISOString()}, ${counted(pushes, "push")} (${livePushes} of them live, with ` +
    `${counted(files, "file")}), ${counted(users, "user")}, encrypted under ${keyIds.length === 1 ? "key" : "keys"} ${keyIds.join(", ")}`
  );
}

const numbersMax = 20;

function shortened(numbers: readonly number[]): string {
  const more = numbers.length > numbersMax ? ` and ${numbers.length - numbersMax} more` : "";
  return `${numbers.slice(0, numbersMax).join(", ")}${more}`;
}

function findKeyring(config: Config, io: CliIo): Keyring | undefined {
  const masterKeys = findMasterKeys(config, io.random);
  return masterKeys === undefined ? undefined : createKeyring(masterKeys.keys, io.random);
}

/** SQLite can open only a file, so the database is unpacked to a temporary folder for the check. */
async function verify(io: CliIo, source: BackupSource, keyring: Keyring | undefined): Promise<Manifest> {
  const folder = await mkdtemp(join(tmpdir(), "sealpush-verify-"));
  try {
    const unpackTo = { folder, blobs: false };
    return await readBackup(source, { keyring, unpackTo, signal: io.interruption() });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The path of the embedded database. @throws CommandRefused if the settings name a server, whose own tools copy it; Error
 * for the operator if the file belongs to another program.
 */
function getEmbeddedDatabase({ database }: Config): string {
  refuseForeignFile(database);
  const path = embeddedFileOf(database);
  if (path !== undefined) return path;
  throw new CommandRefused(
    "This command is for the embedded database, and DATABASE_URL names a PostgreSQL server: back that up with pg_dump, " +
      'or with base backups and archived logs. See "Backup and restore" in docs/operations.md.',
  );
}

const restoreChoice = `A backup does not contain the views that were used after it was made. Choose what happens to pushes that were live then:
  --keep-open  they stay live with the views they had: what was viewed or deleted since then can be viewed once more
  --end-all    all of them end and their secrets are destroyed: nothing is viewed twice, and senders have to push again`;

const restoreHelp = `
${restoreChoice}

Restores into an empty data folder with the settings of the server, master key included, and overwrites nothing. In both
cases all sessions end, links in emails and download addresses become invalid, queued emails and unfinished uploads are dropped,
and API tokens are revoked. See docs/operations.md.`;

interface RestoreOptions {
  readonly from: string;
  readonly keepOpen?: true;
  readonly endAll?: true;
  readonly keepTokens?: true;
}

function addRestore(program: Command, { io }: CommandDeps): void {
  const restore = program
    .command("restore")
    .description("Restore a backup into an empty data folder.")
    .requiredOption("--from <place>", "a folder, a tar file, or - for a tar on standard input")
    .addOption(new Option("--keep-open", "live pushes stay live").conflicts("endAll"))
    .option("--end-all", "live pushes end")
    .option(
      "--keep-tokens",
      "keep all API tokens, also those that were revoked after the backup; without it, all of them are revoked",
    )
    .addHelpText("after", restoreHelp)
    .action(async (options: RestoreOptions) => {
      if (options.keepOpen === undefined && options.endAll === undefined) return restore.error(restoreChoice, usage);
      await runRestore(io, {
        source: sourceOf(options.from, io),
        livePushes: options.keepOpen === true ? "keep_open" : "end_all",
        keepTokens: options.keepTokens === true,
      });
    });
}

async function runRestore(io: CliIo, request: RestoreRequest): Promise<void> {
  const config = getConfig(io);
  const databasePath = getEmbeddedDatabase(config);
  const masterKeys = getMasterKeys(config, io.random);
  for (const warning of masterKeys.warnings) io.stderr(`${warning}\n`);
  const configAt = (paths: { readonly dataDir: string; readonly databasePath: string }): Config => ({
    ...config,
    dataDir: paths.dataDir,
    database: { engine: "sqlite", path: paths.databasePath },
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
      openDomain: (paths) => openDomain(configAt(paths), io, eventsFor(io)),
      remoteBlobs: config.files.s3 === undefined ? undefined : await openBlobs(config, { ...io, isExpected }),
      signal: io.interruption(),
    },
    request,
  );
  for (const sentence of restoreSentences(report, request, config)) io.stdout(`${sentence}\n`);
}

function restoreSentences({ manifest, pushesEnded, cleared }: RestoreReport, request: RestoreRequest, config: Config) {
  const { sessionsEnded, emailsDropped, tokensRevoked, tokensInUse } = cleared;
  const endedAll = request.livePushes === "end_all";
  return [
    `Restored to ${config.dataDir}: ${described(manifest)}.`,
    endedAll
      ? `Ended ${counted(pushesEnded, "push")}: their links do not work any more.`
      : `Live pushes have the views they had at the backup${pushesEnded === 0 ? "" : `, except ${pushesEnded}, which have ended because the backup does not contain their files`}.`,
    `Ended ${counted(sessionsEnded, "session")}; links in emails are invalid; dropped ${counted(emailsDropped, "queued email")}.`,
    "Download addresses are invalid, retrievals cannot be repeated, and unfinished uploads were dropped.",
    !request.keepTokens
      ? `Revoked ${counted(tokensRevoked, "API token")}.`
      : `API tokens work (${tokensInUse}), including any that were revoked after the backup.`,
    "Users, passwords, two-step sign-in and backup codes are as they were at the backup: check users that were disabled or " +
      `deleted, or that changed their password, after it ("user list").`,
  ];
}
