import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { LoadResult } from "../../config/load-config.ts";
import { type Environment, unquoted } from "../../config/setting.ts";
import { CommandRefused, WrongSettings } from "../errors.ts";
import { readEnvFile } from "../settings.ts";
import { parseSourceAddress, type SourceAddress } from "./database-address.ts";
import { readSecret, type SourceArguments } from "./open-source.ts";

/** Options of the commands that read a source. */
export interface SourceOptions {
  readonly database?: string;
  readonly storage?: readonly string[];
  readonly envFile?: string;
}

export interface GivenSource extends SourceArguments {
  /** Where its variables come from, in messages. */
  readonly envFile: string;
}

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
    const found = findSource(dataDir, loaded.given);
    if (found === undefined) throw noSource(dataDir);
    return { ...found, database: database ?? found.database, storage: storage ?? found.storage };
  }
  const environment = readEnvFile(envFile);
  const address = database ?? environment.DATABASE_URL;
  if (address === undefined) throw new WrongSettings(["Give --database: the env file has no DATABASE_URL."]);
  return { database: address, storage: storage ?? [], environment, envFile };
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function noSource(dataDir: string): CommandRefused {
  return new CommandRefused(
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
  const database = url !== undefined ? absolute(url, dataDir) : found === undefined ? undefined : `sqlite:${found}`;
  return database === undefined
    ? undefined
    : { database, storage: storage === undefined ? [] : [storage], environment, envFile: "the environment" };
}

/** Relative paths start at Password Pusher's own folder, whose `storage` may be mounted elsewhere. */
function absolute(url: string, dataDir: string): string {
  const address = parseUrl(url);
  if (address.engine !== "sqlite") return url;
  const storage = findOldStorage(dataDir) ?? dirname(dataDir);
  const [, inStorage] = /^(?:\.\/)?storage\/(.*)$/s.exec(address.path) ?? [];
  return `sqlite:${inStorage === undefined ? resolve(dirname(storage), address.path) : join(storage, inStorage)}`;
}

/** @throws WrongSettings */
function parseUrl(url: string): SourceAddress {
  try {
    return parseSourceAddress(url);
  } catch (error) {
    throw error instanceof WrongSettings ? new WrongSettings(error.mistakes.map(optionsAsSettings)) : error;
  }
}

/** Messages of the import name options of its command. */
export function optionsAsSettings(sentence: string): string {
  return sentence.replaceAll("--database", "DATABASE_URL");
}
