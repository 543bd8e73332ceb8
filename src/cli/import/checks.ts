import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { BucketSettings } from "../../blobs/s3/bucket.ts";
import type { Config } from "../../config/config.ts";
import { type ImportSource, isSourceArgumentError } from "../../import/source.ts";
import { WrongSettings } from "../errors.ts";
import { parseSourceAddress, type SourceAddress } from "./database-address.ts";
import type { SourceArguments } from "./open-source.ts";
import { type StorageLocations, storageLocationsOf } from "./storage-locations.ts";

/** @throws WrongSettings for a SourceArgumentError, and any other error as it is. */
export function orWrongSettings(error: unknown): never {
  throw isSourceArgumentError(error) ? new WrongSettings([error.message]) : error;
}

/**
 * Refuses a source whose database or files are those of this installation. Nothing is opened. @throws WrongSettings,
 * SourceArgumentError.
 */
export function refuseOwnData(config: Config, { database, storage, environment }: SourceArguments): void {
  refuseOwnDatabase(config, parseSourceAddress(database));
  refuseOwnFiles(config, storageLocationsOf(storage, environment));
}

function refuseOwnDatabase({ database: own }: Config, source: SourceAddress): void {
  if (own.engine !== source.engine) return;
  const isSame =
    own.engine === "sqlite"
      ? source.engine === "sqlite" && isSamePath(own.path, source.path)
      : source.engine === "postgres" &&
        [own, ...own.otherHosts].some(({ host, port }) => host === source.host && port === source.port) &&
        own.database === source.database;
  if (!isSame) return;
  throw new WrongSettings([
    "DATABASE_URL of this installation names the database of the Password Pusher that is to be imported. Give this " +
      "installation its own database, such as sqlite:PATH with the path of a new file.",
  ]);
}

/** In one folder or bucket, each installation would take the other's files for its own, or delete them as orphans. */
function refuseOwnFiles(config: Config, locations: StorageLocations): void {
  const own = [config.dataDir, join(config.dataDir, "blobs")];
  if (locations.folder !== undefined && own.some((folder) => isSamePath(folder, locations.folder))) {
    throw new WrongSettings([
      `--storage names ${locations.folder}, where this installation keeps its own files. Give this installation another DATA_DIR.`,
    ]);
  }
  const { s3 } = config.files;
  if (s3 === undefined) return;
  const ownBucket = bucketId(s3);
  if ([...locations.buckets.values()].some((bucket) => bucketId(bucket) === ownBucket)) {
    throw new WrongSettings([
      `The bucket ${s3.bucket} of the source is the one where this installation keeps its own files. Give this ` +
        "installation another bucket (PWP__FILES__S3__BUCKET in its environment).",
    ]);
  }
}

function isSamePath(one: string, other: string | undefined): boolean {
  const [first, second] = [one, other ?? ""].map((path) =>
    statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync(path),
  );
  return first !== undefined && first === second;
}

function bucketId({ endpoint, bucket }: Pick<BucketSettings, "endpoint" | "bucket">): string {
  return `${new URL(endpoint).host.toLowerCase()} ${bucket}`;
}

/** Called before anything is written. @throws WrongSettings if no key opens any of the values that are tried. */
export async function refuseWrongKeys(source: ImportSource, envFile: string): Promise<void> {
  const { tried, opened, examples } = await source.tryKeys();
  if (tried === 0 || opened > 0) return;
  const result =
    tried === 1
      ? "The one encrypted value that was tried does not open with any key"
      : `None of the ${tried} encrypted values that were tried opens with a key`;
  throw new WrongSettings([
    `${result} from ${envFile} (${examples.join(", ")}), so nothing was written. Check PWPUSH_MASTER_KEY and ` +
      "PWPUSH_MASTER_KEY_PREVIOUS there (or their _FILE): they must be the keys of this installation. --dry-run lists all " +
      "values that do not open.",
  ]);
}
