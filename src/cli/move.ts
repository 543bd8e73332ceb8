import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { makeDataFolder } from "../config/data-folder.ts";
import { ownDatabaseName } from "../config/topics/move-in.ts";
import { createKeyring } from "../crypto/keyring.ts";
import { removeMovedAway } from "../database/move-marks.ts";
import { embeddedFileOf } from "../database/open-database.ts";
import { type MoveReport, moveDatabase } from "../move/move.ts";
import { type CliIo, type CommandDeps, exitCodes } from "./cli-io.ts";
import { WrongSettings } from "./errors.ts";
import { getMasterKeys, openDatabaseOf, refuseWithoutData } from "./open-domain.ts";
import { getConfig, loadSettings } from "./settings.ts";

const moveHelp = `
Stop all servers first. Addresses have the form of DATABASE_URL; the master key comes from the settings. Run the same
command again to continue an interrupted move. Afterwards no server starts on the source: set DATABASE_URL (while
SEALPUSH_MOVE_IN is set: SEALPUSH_DATABASE_URL) to the destination, and keep DATA_DIR and the bucket as they are, since
files are not moved. See docs/operations.md.`;

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly reopen?: string;
}

export function addMoveCommand(program: Command, { io }: CommandDeps): void {
  const move = program
    .command("move")
    .description("Move a stopped installation from SQLite to PostgreSQL or back.")
    .option("--from <address>", "the database that contains the data")
    .option("--to <address>", "an empty database of the other kind")
    .option("--reopen <address>", "allow a server to start again on a database whose data was moved")
    .addHelpText("after", moveHelp)
    .action(async ({ from, to, reopen }: Options) => {
      if (reopen !== undefined && from === undefined && to === undefined) return await runReopen(io, reopen);
      if (from === undefined || to === undefined || reopen !== undefined) {
        return move.error("error: give --from and --to, or --reopen alone", { exitCode: exitCodes.usage });
      }
      await runMove(io, from, to);
    });
}

async function runMove(io: CliIo, fromAddress: string, toAddress: string): Promise<void> {
  const [from, to] = [configAt(io, fromAddress, "--from"), configAt(io, toAddress, "--to")];
  await refuseWithoutData(from, io, "--from");
  const masterKeys = getMasterKeys(from, io.random);
  for (const warning of masterKeys.warnings) io.stderr(`${warning}\n`);
  await using source = await open(from, io);
  await using destination = await open(to, io);
  const report = await moveDatabase({
    from: source,
    to: destination,
    keyring: createKeyring(masterKeys.keys, io.random),
    random: io.random,
    clock: io.clock,
    onProgress: (table, rows) => io.stderr(`${table}: ${rows}\n`),
  });
  for (const line of linesOf(report, ownDatabaseName(to.moveIn))) io.stdout(`${line}\n`);
}

function linesOf({ resumed, tables }: MoveReport, databaseName: string): readonly string[] {
  return [
    ...tables.map(({ name, rows, digest }) => `${name.padEnd(20)} ${String(rows).padStart(10)} rows  ${digest}`),
    `${resumed ? "Continued and moved" : "Moved"} all data; both databases were read completely and are equal.`,
    `Now set ${databaseName} to the destination. No server starts on the source any more; files stay where they are.`,
  ];
}

async function runReopen(io: CliIo, address: string): Promise<void> {
  const config = configAt(io, address, "--reopen");
  await refuseWithoutData(config, io, "--reopen");
  await using reopened = await open(config, io);
  const done = await removeMovedAway(reopened);
  io.stdout(
    done
      ? "A server can start on this database again. Never start one on the copy as well.\n"
      : "The data of this database was not moved: nothing was changed.\n",
  );
}

/** The settings with another database. @throws WrongSettings, whose sentences name the option and never repeat the address. */
function configAt(io: CliIo, address: string, option: string): Config {
  const { given } = loadSettings(io.environment);
  const name = ownDatabaseName(given.SEALPUSH_MOVE_IN);
  const { [`${name}_FILE`]: _elsewhere, ...environment } = io.environment;
  try {
    const config = getConfig({ environment: { ...environment, [name]: address } });
    const { database } = config;
    return { ...config, database: database.engine === "postgres" ? { ...database, setting: option } : database };
  } catch (error) {
    if (!(error instanceof WrongSettings)) throw error;
    throw new WrongSettings(
      error.mistakes.map((mistake) => mistake.replace(`${name} cannot be used:`, `${option} cannot be used:`)),
    );
  }
}

async function open(config: Config, io: CliIo) {
  if (embeddedFileOf(config.database) !== undefined) makeDataFolder(config.dataDir);
  return await openDatabaseOf(config, io);
}
