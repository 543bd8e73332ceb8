import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { DatabaseAddress, ImportSource, Installation } from "@sealpush/import-password-pusher";
import { errorCode } from "../../base/errors.ts";
import type { BucketDeps } from "../../blobs/s3/bucket.ts";
import type { LoadResult } from "../../config/load-config.ts";
import { type ReadFile, readSecretFile } from "../../config/secret-files.ts";
import { type Environment, unquoted } from "../../config/setting.ts";
import { type ForeignDatabase, openPrivateCopy } from "../../database/sqlite/private-copy.ts";
import type { CliIo } from "../cli-io.ts";
import { CommandRefused, sentenceOf, WrongSettings } from "../errors.ts";
import { readEnvFile } from "../settings.ts";
import { parseSourceAddress, type SourceAddress } from "./database-address.ts";
import { objectReaderOf, type SourceEnvironment, storageLocationsOf } from "./storage-locations.ts";

export interface SourceOptions {
  readonly database?: string;
  readonly storage?: readonly string[];
  readonly envFile?: string;
}

/** What the operator gives: the values of --database and --storage, and the variables of --env-file. */
export interface GivenSource {
  readonly database: string;
  readonly storage: readonly string[];
  readonly environment: SourceEnvironment;
  /** Where the variables come from, in messages. */
  readonly envFile: string;
}

export type SourceArguments = Omit<GivenSource, "envFile">;

/**
 * The source that the options name. Without --env-file, while SEALPUSH_MOVE_IN is set, it is the Password Pusher in whose
 * place this server runs. @throws WrongSettings, CommandRefused
 */
export function givenSource(
  { envFile, database, storage }: SourceOptions,
  loaded: LoadResult & { ok: true },
): GivenSource {
  if (envFile === undefined) {
    const { moveIn, dataDir } = loaded.config;
    if (moveIn === undefined) {
      throw new WrongSettings([
        "Give --env-file, the environment of Password Pusher. It is only known without this option while SEALPUSH_MOVE_IN is set.",
      ]);
    }
    const found = getSource(dataDir, loaded.given);
    return { ...found, database: database ?? found.database, storage: storage ?? found.storage };
  }
  const environment = readEnvFile(envFile);
  const address = database ?? environment.DATABASE_URL;
  if (address === undefined) throw new WrongSettings(["Give --database: the env file has no DATABASE_URL."]);
  return { database: address, storage: storage ?? [], environment, envFile };
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** As `findSource`. @throws CommandRefused if there is none. */
export function getSource(dataDir: string, given: Environment): GivenSource {
  const found = findSource(dataDir, given);
  if (found !== undefined) return found;
  throw new CommandRefused(
    `SEALPUSH_MOVE_IN is set, but there is no Password Pusher: DATABASE_URL is not set, and ${databaseIn(dirname(dataDir))} does not exist.`,
  );
}

/** The SQLite database of a Password Pusher in whose storage folder the data folder is, or whose storage folder it is. */
export function findOldDatabase(dataDir: string): string | undefined {
  return [dirname(dataDir), dataDir].map(databaseIn).find((path) => existsSync(path));
}

function databaseIn(storage: string): string {
  return join(storage, "db/production.sqlite3");
}

/** The storage folder of Password Pusher. With a database on a server, it has files alone, and is recognised by its name. */
export function findOldStorage(dataDir: string): string | undefined {
  const database = findOldDatabase(dataDir);
  if (database !== undefined) return dirname(dirname(database));
  return basename(dirname(dataDir)) === "storage" ? dirname(dataDir) : undefined;
}

/** The database and files of the Password Pusher that this server's environment and volume are from. */
export function findSource(dataDir: string, given: Environment): GivenSource | undefined {
  const environment = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === undefined ? undefined : unquoted(value)]),
  );
  const storage = findOldStorage(dataDir);
  const url = readSecret(environment, "DATABASE_URL");
  const found = findOldDatabase(dataDir);
  const database = url === undefined ? found && `sqlite:${found}` : absolute(url, dataDir);
  if (database === undefined) return undefined;
  return { database, storage: storage === undefined ? [] : [storage], environment, envFile: "the environment" };
}

/** Relative paths start at Password Pusher's own folder, whose `storage` may be mounted elsewhere. @throws WrongSettings. */
function absolute(url: string, dataDir: string): string {
  try {
    const address = parseSourceAddress(url);
    if (address.engine !== "sqlite") return url;
    const storage = findOldStorage(dataDir) ?? dirname(dataDir);
    const [, inStorage] = /^(?:\.\/)?storage\/(.*)$/s.exec(address.path) ?? [];
    return `sqlite:${inStorage === undefined ? resolve(dirname(storage), address.path) : join(storage, inStorage)}`;
  } catch (error) {
    throw namingSettings(error);
  }
}

/** Messages of the import name options of its command. */
export function namingSettings(error: unknown): WrongSettings | CommandRefused {
  const named = (sentence: string) => sentence.replaceAll("--database", "DATABASE_URL");
  if (error instanceof WrongSettings) return new WrongSettings(error.mistakes.map(named));
  return new CommandRefused(named(sentenceOf(error)), { cause: error });
}

type Copying = Pick<ForeignDatabase, "scratchFolder" | "now">;

/** @throws WrongSettings, SourceError, or CommandRefused when the package that reads Password Pusher is not installed. */
export async function openSource(
  { database, storage, environment }: SourceArguments,
  deps: BucketDeps & Copying,
): Promise<ImportSource> {
  const locations = storageLocationsOf(storage, environment);
  const installation: Installation = {
    database: connectable(parseSourceAddress(database), deps),
    storageFolder: locations.folder,
    objects: objectReaderOf(locations, deps),
    secret: (name) => readSecret(environment, name),
  };
  const { openPasswordPusher } = await loadPackage();
  try {
    return await openPasswordPusher(installation, { now: deps.now });
  } catch (error) {
    // An argument cannot be used: a key or a folder. The package has a class of its own with this code.
    const isArgument = error instanceof Error && errorCode(error) === "SOURCE_ARGUMENT_ERROR";
    throw isArgument ? new WrongSettings([error.message]) : error;
  }
}

/** Opens the source for one command, and closes it afterwards. @throws as `openSource`, and what the work throws. */
export async function withSource<T>(
  given: SourceArguments,
  io: CliIo,
  scratchFolder: string,
  work: (source: ImportSource) => Promise<T>,
): Promise<T> {
  const source = await openSource(given, { ...io, now: io.clock.now(), scratchFolder });
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

async function loadPackage() {
  try {
    return await import("@sealpush/import-password-pusher");
  } catch (error) {
    if (errorCode(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CommandRefused(
      "The package @sealpush/import-password-pusher, which reads Password Pusher, is not installed. Install it with npm ci, then run npm run build.",
      { cause: error },
    );
  }
}

/** The import connects as the server does. */
function connectable(address: SourceAddress, { scratchFolder, now }: Copying): DatabaseAddress {
  if (address.engine === "mysql") return address;
  if (address.engine === "sqlite") {
    return { engine: "sqlite", connect: () => openPrivateCopy({ path: address.path, scratchFolder, now }) };
  }
  return {
    engine: "postgres",
    server: `${address.host}:${address.port}`,
    async connect() {
      // Loaded on demand: it loads the PostgreSQL driver.
      const { openReader } = await import("../../database/postgres/pooled-client.ts");
      return await openReader(address);
    },
  };
}

/**
 * The variable `name`, or else the text of the file that `name`_FILE names, as the source resolves them. undefined: neither
 * is set, or the variable is empty. @throws WrongSettings for a file that cannot be read.
 */
export function readSecret(
  environment: SourceEnvironment,
  name: string,
  readFile: ReadFile = (path) => readFileSync(path, "utf8"),
): string | undefined {
  const inline = environment[name]?.trim() ?? "";
  if (inline !== "") return inline;
  const path = environment[`${name}_FILE`]?.trim() ?? "";
  if (path === "") return undefined;
  const reading = readSecretFile(`${name}_FILE`, path, readFile);
  if (reading.ok) return reading.text;
  throw new WrongSettings([`${reading.mistake} Give the key itself as ${name}, or put the file where it can be read.`]);
}
