import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secondMs } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { findMovedIn, makeDataFolder, movedInPath, recordMovedIn } from "../config/data-folder.ts";
import type { LoadResult } from "../config/load-config.ts";
import type { Environment } from "../config/setting.ts";
import { volumeLines } from "../config/short-lived-data.ts";
import { ForeignDatabaseError } from "../database/database.ts";
import { findMoveIn, markMoveIn } from "../database/move-marks.ts";
import { awaitDatabase, embeddedFileOf } from "../database/open-database.ts";
import { hasData, isNewDatabase, WrongMasterKeyError } from "../pushes/vault.ts";
import { createEvents } from "../telemetry/events.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type CliIo, exitCodes } from "./cli-io.ts";
import { CommandRefused, WrongSettings } from "./errors.ts";
import { parseSourceAddress, printable } from "./import/database-address.ts";
import { loggedOutput } from "./import/import-output.ts";
import {
  findOldDatabase,
  findSource,
  getSource,
  namingSettings,
  type SourceArguments,
  withSource,
} from "./import/open-source.ts";
import type { ImportRequest } from "./import.ts";
import { markSource, sourceMarkOf } from "./move-in/source-mark.ts";
import { openDatabaseOf } from "./open-domain.ts";

const awaitedMs = 30 * secondMs;

/**
 * What has to be done before this server serves in the place of a Password Pusher: import its data if SEALPUSH_MOVE_IN
 * asks for it, and refuse to ignore them if nobody has decided.
 * @returns undefined: serve. Otherwise the exit code.
 * @throws WrongSettings with the page for the operator.
 */
export async function prepareMoveIn(io: CliIo, loaded: LoadResult): Promise<number | undefined> {
  if (!loaded.ok) {
    if (isMysql(loaded.given)) await refuseFound(io, loaded);
    return undefined;
  }
  const { config } = loaded;
  // A gateway creates nothing: the complete server beside it moves in.
  if (config.gateway.only) return undefined;
  if (config.moveIn === undefined) {
    if (findOldDatabase(loaded.dataDir) !== undefined && !(await isInUse(config, io))) await refuseFound(io, loaded);
    return undefined;
  }
  const state = await stateOf(config, io);
  if (state === "finished") {
    // A complete import was interrupted before its marks, or a backup was restored.
    if (findMovedIn(config.dataDir) === undefined) recordMove(io, loaded, config);
    return undefined;
  }
  if (config.moveIn === "yes" && state === "in_use") throw refusedInUse(config);
  if (config.moveIn === "yes") return await moveIn(io, loaded, config);
  if (state !== "unfinished") return undefined;
  throw new CommandRefused(
    `An import into ${config.dataDir} was begun. SEALPUSH_MOVE_IN=yes finishes it. To start empty instead, remove this ` +
      "folder, and the tables in the database of SEALPUSH_DATABASE_URL if it is set.",
  );
}

/**
 * Serves, and explains a database or a master key of Password Pusher in the settings of this server.
 * @throws WrongSettings with the page for the operator, CommandRefused.
 */
export async function serveOrExplain(io: CliIo, loaded: LoadResult & { readonly ok: true }): Promise<number> {
  try {
    return await io.serve(loaded.config, loaded.warnings);
  } catch (error) {
    const { moveIn: wanted, masterKeys, dataDir } = loaded.config;
    if (wanted !== undefined) throw error;
    if (error instanceof ForeignDatabaseError) await refuseFound(io, loaded);
    const ownKey = join(dataDir, "master.key");
    if (error instanceof WrongMasterKeyError && masterKeys.length > 0 && existsSync(ownKey)) {
      throw new CommandRefused(
        `${error.message} There is a key in ${ownKey}: if PWPUSH_MASTER_KEY is that of a Password Pusher, set ` +
          "SEALPUSH_MOVE_IN=yes again, or remove PWPUSH_MASTER_KEY and PWPUSH_MASTER_KEY_PREVIOUS.",
        { cause: error },
      );
    }
    throw error;
  }
}

function refusedInUse({ dataDir, database }: Config): CommandRefused {
  const emptyDatabase = database.engine === "postgres" ? ", and SEALPUSH_DATABASE_URL an empty database" : "";
  return new CommandRefused(
    `The database ${printable(database)} is in use already, so nothing was imported into it. SEALPUSH_MOVE_IN=no serves it as it is. ` +
      `To move in, let DATA_DIR (now ${dataDir}) name an empty folder${emptyDatabase}.`,
  );
}

/** The master key would be lost, and another container would import again. @throws WrongSettings */
function refuseShortLivedData({ dataDir, shortLivedData }: Config): void {
  if (shortLivedData === undefined) return;
  throw new WrongSettings([
    `The data of Password Pusher are not imported, because DATA_DIR (${dataDir}) is ${shortLivedData.where}. The next container would not`,
    "find what was imported, nor the master key. It would import again, and links that have been used up would open again.",
    "Nothing was changed. Add these lines to the compose file, and start again:",
    "",
    ...volumeLines(shortLivedData),
  ]);
}

/** Importing into a new database would make pushes available again that were used up in the former one. @throws CommandRefused */
function refuseSecondMoveIn({ dataDir, database }: Config, source: SourceArguments): void {
  const former = findMovedIn(dataDir);
  const usedUp = "Another import would open links again that have been used up since.";
  if (former !== undefined) {
    throw new CommandRefused(
      `The data of Password Pusher were imported before, into the database ${former}. The database ${printable(database)} ` +
        `does not have them. ${usedUp} Set SEALPUSH_DATABASE_URL as it was then; to change the database, copy its contents with ` +
        "`sealpush move` first. If it is lost, restore a backup. To import everything again nevertheless, remove " +
        `${movedInPath(dataDir)}.`,
    );
  }
  const mark = sourceMarkOf(source);
  if (mark === undefined) return;
  throw new CommandRefused(
    `The data of this Password Pusher were moved before: ${mark} says where to, and ${dataDir} does not have them. ${usedUp} Set ` +
      "DATA_DIR, its volume and SEALPUSH_DATABASE_URL as they were then. If the data are lost, restore a backup. To import " +
      "everything again nevertheless, remove this file.",
  );
}

/** Two marks of a complete import, apart from that in the database: beside the old database, and in the data folder. */
function recordMove(io: CliIo, { given }: LoadResult, { dataDir, database, logLevel }: Config): void {
  const source = findSource(dataDir, given);
  const to = printable(database);
  if (source !== undefined) {
    const notice = markSource(source, to, dataDir, io.clock.now());
    if (notice !== undefined) eventsTo(io, logLevel).moveNotMarked(notice);
  }
  recordMovedIn(dataDir, to);
}

function eventsTo({ stdout, clock }: CliIo, logLevel: Config["logLevel"]) {
  return createEvents({ logger: createLogger(logLevel, { write: stdout }), clock });
}

/** "none": no server has started on it. "empty": nothing is stored. "in_use": this server stored data without moving in. */
type State = "none" | "empty" | "in_use" | "unfinished" | "finished";

/** DATABASE_URL may be that of Password Pusher, which this server never stored data in. */
async function isInUse(config: Config, io: CliIo): Promise<boolean> {
  try {
    const state = await stateOf(config, io);
    return state === "empty" || state === "in_use" || state === "finished";
  } catch (error) {
    if (error instanceof ForeignDatabaseError) return false;
    throw error;
  }
}

async function stateOf(config: Config, io: CliIo): Promise<State> {
  const path = embeddedFileOf(config.database);
  if (path !== undefined && !existsSync(path)) return "none";
  const onWaiting = eventsTo(io, config.logLevel).databaseAwaited;
  await awaitDatabase(config.database, { ...io, onWaiting, abandoned: undefined });
  await using db = await openDatabaseOf(config, io);
  const mark = await findMoveIn(db.read);
  if (mark !== undefined) return mark;
  if (await hasData(db.read)) return "in_use";
  return (await isNewDatabase(db.read)) ? "none" : "empty";
}

async function moveIn(io: CliIo, loaded: LoadResult, config: Config): Promise<number | undefined> {
  const source = getSource(config.dataDir, loaded.given);
  refuseShortLivedData(config);
  refuseSecondMoveIn(config, source);
  makeDataFolder(config.dataDir);
  // Only a start that imports loads what it needs.
  const { importPasswordPusher } = await import("./import.ts");
  const { openProgressServer } = await import("./move-in/progress-server.ts");
  const server = await openProgressServer(config);
  const events = eventsTo(io, config.logLevel);
  events.importStarted(server.port);
  const request: ImportRequest = {
    config,
    options: {},
    given: source,
    onProgress: server.report,
    output: loggedOutput(events),
    async aroundWrites({ db }, run) {
      await markMoveIn(db, "unfinished");
      const code = await run();
      if (isImported(code)) {
        await markMoveIn(db, "finished");
        recordMove(io, loaded, config);
      }
      return code;
    },
  };
  const startedAt = io.monotonicMs();
  try {
    for (let isWaiting = false; ; isWaiting = true) {
      const exitCode = await importPasswordPusher(io, request).catch((error: unknown) => {
        // Containers start together, and a database server may need longer.
        if (!isNotStarted(error) || io.monotonicMs() - startedAt > awaitedMs) throw namingSettings(error);
        if (!isWaiting) events.databaseAwaited(namingSettings(error).message);
      });
      if (exitCode !== undefined) return isImported(exitCode) ? undefined : exitCode;
      await io.pause(secondMs);
    }
  } finally {
    await server.close();
  }
}

/** Codes of the system, and of a PostgreSQL server that is starting (57P03). */
function isNotStarted(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "57P03"].includes(code);
}

/** The other codes say that the report names rows: a few damaged ones must not keep everybody from the others. */
function isImported(exitCode: number): boolean {
  return exitCode !== exitCodes.failed && exitCode !== exitCodes.usage;
}

function isMysql(environment: Environment): boolean {
  return /^\s*["']?(?:mysql2?|mariadb|trilogy):/i.test(environment.DATABASE_URL ?? "");
}

/** Refuses the start with a page on what was found. Returns if it is not a Password Pusher. @throws WrongSettings */
async function refuseFound(io: CliIo, { given, dataDir }: LoadResult): Promise<void> {
  const found = findSource(dataDir, given);
  if (found === undefined) return;
  const isKnown = findOldDatabase(dataDir) !== undefined || isMysql(given);
  const content = await contentOf(io, found).catch((error: unknown) =>
    // Another program's tables. The path in Password Pusher's own folder needs no other proof, nor does its engine.
    isKnown ? `It cannot be read yet: ${namingSettings(error).message}` : undefined,
  );
  if (content === undefined) return;
  const mark = sourceMarkOf(found);
  throw new WrongSettings([
    "The start found the data of a Password Pusher, and nothing says what to do with them. Nothing was changed.",
    "",
    `  Database  ${printable(parseSourceAddress(found.database))}`,
    `            ${content}`,
    ...(found.storage.length > 0 ? [`  Files     ${found.storage.join(", ")}`] : []),
    ...(mark === undefined ? [] : ["", `They were moved to a Sealpush before, which ${mark} names.`]),
    "",
    "Set one variable and start again:",
    "",
    "  SEALPUSH_MOVE_IN=yes   imports everything, then serves. The old database and files are only read.",
    "  SEALPUSH_MOVE_IN=no    starts empty, and leaves them alone.",
    "",
    "Keep it set as long as the other variables are there: PWPUSH_MASTER_KEY and DATABASE_URL then stay those of Password",
    `Pusher. This server has a master key of its own, ${join(dataDir, "master.key")} (store a copy of it elsewhere),`,
    "and its database in the same folder, or in the PostgreSQL database that SEALPUSH_DATABASE_URL names.",
    "See docs/deployment.md, Swapping the image.",
  ]);
}

async function contentOf(io: CliIo, source: SourceArguments): Promise<string> {
  const { users, pushes, files } = await withSource(source, io, tmpdir(), (opened) => opened.counts());
  return `${users} users, ${pushes} pushes, ${files} files`;
}
