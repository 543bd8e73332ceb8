import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { makeDataFolder } from "../config/data-folder.ts";
import { createKeyring } from "../crypto/keyring.ts";
import type { Database } from "../database/database.ts";
import { openDatabase } from "../database/open-database.ts";
import { type MoveReport, moveDatabase, reopenDatabase } from "../move/move.ts";
import { type CliIo, type CommandDeps, exitCodes, exitCodesHelp } from "./cli-io.ts";
import { getMasterKeys } from "./master-keys.ts";
import { refuseWithoutData } from "./open-store.ts";
import { getConfig } from "./settings.ts";

const procedure = `
Stop all servers first. Addresses are written as in DATABASE_URL; the master key is taken from the settings. An
interrupted move goes on when the same command is run again. Afterwards the source refuses to be served: set DATABASE_URL
to the destination, and keep DATA_DIR and the bucket as they are, for files are not moved. See docs/operations.md.`;

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly reopen?: string;
}

export function addMove(program: Command, { io }: CommandDeps): void {
  const move = program
    .command("move")
    .description("Move a stopped installation from SQLite to PostgreSQL or back.")
    .option("--from <address>", "the database that holds the data")
    .option("--to <address>", "an empty database of the other kind")
    .option("--reopen <address>", "let a server start again on data that were moved away from there")
    .addHelpText("after", procedure + exitCodesHelp)
    .action(async ({ from, to, reopen }: Options) => {
      if (reopen !== undefined && from === undefined && to === undefined) return await runReopen(io, reopen);
      if (from === undefined || to === undefined || reopen !== undefined) {
        return move.error("error: give --from and --to, or --reopen alone", { exitCode: exitCodes.usage });
      }
      await runMove(io, from, to);
    });
}

async function runMove(io: CliIo, fromAddress: string, toAddress: string): Promise<void> {
  const [from, to] = [configAt(io, fromAddress), configAt(io, toAddress)];
  await refuseWithoutData(from, io);
  const masterKeys = getMasterKeys(from, io.random);
  for (const warning of masterKeys.warnings) io.stderr(`${warning}\n`);
  await using source = await open(from, io);
  await using destination = await open(to, io);
  const report = await moveDatabase({
    from: source.db,
    to: destination.db,
    keyring: createKeyring(masterKeys.keys, io.random),
    random: io.random,
    clock: io.clock,
    onProgress: (table, rows) => io.stderr(`${table}: ${rows}\n`),
  });
  for (const line of linesOf(report)) io.stdout(`${line}\n`);
}

function linesOf({ resumed, tables }: MoveReport): readonly string[] {
  return [
    ...tables.map(({ name, rows, digest }) => `${name.padEnd(20)} ${String(rows).padStart(10)} rows  ${digest}`),
    `${resumed ? "Went on and moved" : "Moved"} everything; both sides were read whole and are equal.`,
    "Now set DATABASE_URL to the destination. The source refuses to be served; files stay where they are.",
  ];
}

async function runReopen(io: CliIo, address: string): Promise<void> {
  const config = configAt(io, address);
  await refuseWithoutData(config, io);
  await using reopened = await open(config, io);
  const done = await reopenDatabase(reopened.db);
  io.stdout(
    done
      ? "A server may start on these data again. Never let one start on the copy as well.\n"
      : "These data were not moved away: nothing was changed.\n",
  );
}

/** The settings as they are, but for the database. @throws WrongSettings; what it says never repeats the address. */
function configAt(io: CliIo, address: string): Config {
  const { DATABASE_URL_FILE: _elsewhere, ...environment } = io.environment;
  return getConfig({ environment: { ...environment, DATABASE_URL: address } });
}

async function open(config: Config, io: CliIo): Promise<AsyncDisposable & { readonly db: Database }> {
  if (config.database.engine === "sqlite") makeDataFolder(config.dataDir);
  const db = await openDatabase(config.database, {
    monotonicMs: io.monotonicMs,
    // The statement that failed tells the command itself; what it cannot cut, the server does.
    onStorageFailure: () => undefined,
    onTruncationFailed: () => undefined,
  });
  return { db, [Symbol.asyncDispose]: () => db.close() };
}
