import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { type BackupSource, openBackup, openPipe } from "../backup/backup-source.ts";
import { type BackupReport, createBackup } from "../backup/create-backup.ts";
import type { Manifest } from "../backup/manifest.ts";
import { readBackup } from "../backup/read-backup.ts";
import type { Config } from "../config/config.ts";
import { createKeyring, type Keyring } from "../crypto/keyring.ts";
import { openBlobs } from "../domain.ts";
import { type CliIo, type CommandDeps, exitCodes, exitCodesHelp } from "./cli-io.ts";
import { getEmbeddedDatabase } from "./embedded-database.ts";
import { CommandRefused } from "./errors.ts";
import { findMasterKeys, getMasterKeys } from "./master-keys.ts";
import { refuseWithoutData } from "./open-store.ts";
import { getConfig } from "./settings.ts";

const what = `
Copies the database and the sealed files while servers run, reads the copy back, and gives it its name only then. The
master key is not in it: keep that in another place. See "Backup and restore" in docs/operations.md.`;

/** `backup` and `backup verify`. */
export function addBackup(program: Command, { io }: CommandDeps): void {
  const backup = program
    .command("backup")
    .description("Back up the embedded database and the sealed files, while servers run.")
    .option(
      "--to <place>",
      "a folder or a file ending in .tar, not there yet and outside of the data, or - for a tar on the standard output",
    )
    .addHelpText("after", what + exitCodesHelp)
    .action(async ({ to }: { readonly to?: string }) => {
      if (to === undefined) return backup.error("error: say where to: --to <folder|file.tar|->", usage);
      await runBackup(io, to);
    });
  backup
    .command("verify")
    .description("Check a backup without restoring it: sums, seal, database, and that no file is missing.")
    .requiredOption("--from <place>", "a folder, a tar file, or - for a tar on the standard input")
    .addHelpText("after", exitCodesHelp)
    .action(async ({ from }: { readonly from: string }) => {
      const keyring = findKeyring(getConfig(io), io);
      const manifest = await verify(io, sourceOf(from, io), keyring);
      io.stdout(`The backup is whole: ${described(manifest)}.\n`);
      if (keyring !== undefined) return;
      io.stdout("No master key is given, so only damage was looked for: whether somebody changed it is not known.\n");
    });
}

/** For mistakes in the command line that the options cannot say. */
export const usage = { exitCode: exitCodes.usage };

/** @param from as `--from` takes it. */
export function sourceOf(from: string, io: Pick<CliIo, "stdin">): BackupSource {
  return from === "-" ? openPipe(io.stdin) : openBackup(from);
}

async function runBackup(io: CliIo, to: string): Promise<void> {
  if (to === "-" && io.stdoutIsTerminal) {
    throw new CommandRefused("The standard output is a terminal, which shows no archive: give it a file or a pipe.");
  }
  const config = getConfig(io);
  const databasePath = getEmbeddedDatabase(config);
  await refuseWithoutData(config, io);
  const masterKeys = getMasterKeys(config, io.random);
  for (const warning of masterKeys.warnings) io.stderr(`${warning}\n`);
  const report = await createBackup(
    {
      databasePath,
      dataDir: config.dataDir,
      blobs: await openBlobs(config, io),
      keyring: createKeyring(masterKeys.keys, io.random),
      clock: io.clock,
      random: io.random,
      version: io.version,
      pipe: io.pipe,
      stop: io.interruption(),
    },
    to,
  );
  // The archive itself is on the standard output then.
  for (const sentence of sentencesOf(report, to)) (to === "-" ? io.stderr : io.stdout)(`${sentence}\n`);
  const { pushesWithoutFiles } = report.manifest;
  if (pushesWithoutFiles.length > 0) {
    io.stderr(
      `Of pushes that have ended meanwhile, or whose files are damaged or lost, not every file is in it: number ` +
        `${shortened(pushesWithoutFiles)}. A restore ends them.\n`,
    );
  }
}

function sentencesOf({ manifest, readBack }: BackupReport, to: string): readonly string[] {
  return [
    `Backed up${to === "-" ? "" : ` to ${to}`}: ${described(manifest)}.`,
    readBack
      ? "It was read back and is whole. The master key is not in it: keep that in another place."
      : `What went into the pipe was not read back: use "backup verify". The master key is not in it.`,
  ];
}

export function described({ counts, createdAt, keyIds }: Manifest): string {
  const { pushes, livePushes, files, users } = counts;
  return (
    `the state of ${new Date(createdAt).toISOString()}, ${pushes} pushes (${livePushes} of them live, with ${files} ` +
    `files), ${users} users, sealed under key ${keyIds.join(", ")}`
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

/** The database has to lie in a file to be looked into; in a folder for temporary files, and not for long. */
async function verify(io: CliIo, source: BackupSource, keyring: Keyring | undefined): Promise<Manifest> {
  const folder = await mkdtemp(join(tmpdir(), "sealpush-verify-"));
  try {
    const unpackTo = { folder, blobs: false };
    return await readBackup(source, { keyring, unpackTo, stop: io.interruption() });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
