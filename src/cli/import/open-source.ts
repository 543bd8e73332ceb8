import { readFileSync } from "node:fs";
import type { DatabaseAddress, ImportSource, Installation, ReadingOptions } from "@sealpush/import-password-pusher";
import type { BucketDeps } from "../../blobs/s3/bucket.ts";
import { type ReadFile, readSecretFile } from "../../config/secret-files.ts";
import { type ForeignDatabase, openPrivateCopy } from "../../database/sqlite/private-copy.ts";
import type { CliIo } from "../cli-io.ts";
import { CommandRefused, WrongSettings } from "../errors.ts";
import { parseSourceAddress, type SourceAddress } from "./database-address.ts";
import { objectReaderOf, type SourceEnvironment, storageLocationsOf } from "./storage-locations.ts";

/** What the operator gives: the values of --database and --storage, and the variables of --env-file. */
export interface SourceArguments {
  readonly database: string;
  readonly storage: readonly string[];
  readonly environment: SourceEnvironment;
}

type Copying = Pick<ForeignDatabase, "scratchFolder" | "now">;

/** @throws WrongSettings, SourceError, or CommandRefused when the package that reads Password Pusher is not installed. */
export async function openSource(
  { database, storage, environment }: SourceArguments,
  deps: BucketDeps & ReadingOptions & Copying,
): Promise<ImportSource> {
  const { folder, buckets } = storageLocationsOf(storage, environment);
  const installation: Installation = {
    database: connectable(parseSourceAddress(database), deps),
    storageFolder: folder,
    objects: objectReaderOf(buckets, deps),
    secret: (name) => readSecret(environment, name),
  };
  const { openPasswordPusher } = await loadPackage();
  try {
    return await openPasswordPusher(installation, { now: deps.now });
  } catch (error) {
    // An argument cannot be used: a key or a folder. The package has a class of its own with this code.
    const isArgument = error instanceof Error && "code" in error && error.code === "SOURCE_ARGUMENT_ERROR";
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
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
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
