import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { BucketSettings } from "../../blobs/s3/bucket.ts";
import type { Config } from "../../config/config.ts";
import { type ImportSource, isSourceArgumentError } from "../../import/source.ts";
import { WrongSettings } from "../errors.ts";
import { parseSourceAddress, type SourceAddress } from "./database-address.ts";
import type { SourceArguments } from "./open-source.ts";
import { type StorageLocations, storageLocationsOf } from "./storage-locations.ts";

/** What the operator typed is wrong, and not what it leads to. @throws WrongSettings in place of SourceArgumentError. */
export function orWrongSettings(error: unknown): never {
  throw isSourceArgumentError(error) ? new WrongSettings([error.message]) : error;
}

/**
 * What the source has must not be taken for what is here: neither its database nor the place of its files. Nothing is opened
 * for it. @throws WrongSettings, SourceArgumentError.
 */
export function refuseOwnPlaces(config: Config, { database, storage, environment }: SourceArguments): void {
  refuseOwnDatabase(config, parseSourceAddress(database));
  refuseOwnFiles(config, storageLocationsOf(storage, environment));
}

function refuseOwnDatabase({ database: own }: Config, source: SourceAddress): void {
  if (own.engine !== source.engine) return;
  const isSame =
    own.engine === "sqlite"
      ? source.engine === "sqlite" && isSamePlace(own.path, source.path)
      : source.engine === "postgres" &&
        own.host === source.host &&
        own.port === source.port &&
        own.database === source.database;
  if (!isSame) return;
  throw new WrongSettings([
    "The database of this installation (DATABASE_URL in its own environment) is the very one of the Password Pusher that is " +
      "to be brought in: give this installation one of its own, such as sqlite:PATH of a file that is not there yet.",
  ]);
}

/**
 * Files of the source must not lie where files of this installation do: either would take the other's for its own, or for
 * rubbish.
 */
function refuseOwnFiles(config: Config, places: StorageLocations): void {
  const own = [config.dataDir, join(config.dataDir, "blobs")];
  if (places.folder !== undefined && own.some((folder) => isSamePlace(folder, places.folder))) {
    throw new WrongSettings([
      `--storage names ${places.folder}, where this installation keeps its own files: give it another DATA_DIR.`,
    ]);
  }
  const { s3 } = config.files;
  if (s3 === undefined) return;
  const mark = bucketMark(s3);
  if ([...places.buckets.values()].some((bucket) => bucketMark(bucket) === mark)) {
    throw new WrongSettings([
      `The bucket ${s3.bucket} of the source is the one where this installation keeps its own files: give it another one ` +
        "(PWP__FILES__S3__BUCKET in its environment).",
    ]);
  }
}

function isSamePlace(one: string, other: string | undefined): boolean {
  const [first, second] = [one, other ?? ""].map((path) =>
    statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync(path),
  );
  return first !== undefined && first === second;
}

function bucketMark({ endpoint, bucket }: Pick<BucketSettings, "endpoint" | "bucket">): string {
  return `${new URL(endpoint).host.toLowerCase()} ${bucket}`;
}

/** Before anything is written. @throws WrongSettings when nothing that is sealed opens. */
export async function refuseWrongKeys(source: ImportSource, envFile: string): Promise<void> {
  const { tried, opened, examples } = await source.tryKeys();
  if (tried === 0 || opened > 0) return;
  const looked =
    tried === 1
      ? "The one sealed value that was tried opens with no key"
      : `None of the ${tried} sealed values that were tried opens with any key`;
  throw new WrongSettings([
    `${looked} that ${envFile} gives (${examples.join(", ")}), so nothing was written. Check ` +
      "PWPUSH_MASTER_KEY and PWPUSH_MASTER_KEY_PREVIOUS there (or their _FILE): they must be those of this very " +
      "installation. --dry-run lists all that does not open.",
  ]);
}
