import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { ImportSource } from "@sealpush/import-password-pusher";
import type { BucketSettings } from "../../blobs/s3/bucket.ts";
import type { Config } from "../../config/config.ts";
import { equalDigests } from "../../crypto/digests.ts";
import { WrongSettings } from "../errors.ts";
import type { MasterKeys } from "../open-domain.ts";
import { parseSourceAddress, type SourceAddress } from "./database-address.ts";
import { findOldStorage, type GivenSource, readSecret, type SourceArguments } from "./open-source.ts";
import { type StorageLocations, storageLocationsOf } from "./storage-locations.ts";

/**
 * Refuses a source whose database or files are those of this installation. Nothing is opened.
 * @throws WrongSettings.
 */
export function refuseOwnData(config: Config, { database, storage, environment }: SourceArguments): void {
  if (isSameDatabase(config.database, parseSourceAddress(database))) {
    throw new WrongSettings([
      "DATABASE_URL of this installation names the database of the Password Pusher that is to be imported. Give this " +
        "installation its own database, such as sqlite:PATH with the path of a new file.",
    ]);
  }
  refuseOwnFiles(config, storageLocationsOf(storage, environment));
}

function isSameDatabase(own: Config["database"], source: SourceAddress): boolean {
  if (own.engine === "sqlite") return source.engine === "sqlite" && isSamePath(own.path, source.path);
  if (source.engine !== "postgres" || own.database !== source.database) return false;
  return [own, ...own.otherHosts].some(({ host, port }) => host === source.host && port === source.port);
}

/**
 * In one folder or bucket, each installation would take the other's files for its own, or delete them as orphans. The volume
 * of a Password Pusher may be the data folder: their files have other names than ours.
 */
function refuseOwnFiles(config: Config, { folder, buckets }: StorageLocations): void {
  const blobs = join(config.dataDir, "blobs");
  const own = findOldStorage(config.dataDir) === config.dataDir ? [blobs] : [config.dataDir, blobs];
  if (folder !== undefined && own.some((ownFolder) => isSamePath(ownFolder, folder))) {
    throw new WrongSettings([
      `--storage names ${folder}, where this installation keeps its own files. Give this installation another DATA_DIR.`,
    ]);
  }
  const { s3 } = config.files;
  if (s3 !== undefined && [...buckets.values()].some((bucket) => bucketId(bucket) === bucketId(s3))) {
    throw new WrongSettings([
      `The bucket ${s3.bucket} of the source is the one where this installation keeps its own files. Give this ` +
        "installation another bucket (PWP__FILES__S3__BUCKET in its environment).",
    ]);
  }
}

function isSamePath(one: string, other: string): boolean {
  return existsSync(one) && existsSync(other) && realpathSync(one) === realpathSync(other);
}

function bucketId({ endpoint, bucket }: Pick<BucketSettings, "endpoint" | "bucket">): string {
  return `${new URL(endpoint).host.toLowerCase()} ${bucket}`;
}

/**
 * Refuses to seal new data under a key of the source: it would open the databases and backups of both. The older keys of
 * this installation are allowed, because they seal nothing new. @throws WrongSettings.
 */
export function refuseSharedKey(own: MasterKeys | undefined, { environment, envFile }: GivenSource): void {
  const [active] = own?.keys ?? [];
  const theirs = ["PWPUSH_MASTER_KEY", "PWPUSH_MASTER_KEY_PREVIOUS"].flatMap((name) =>
    (readSecret(environment, name) ?? "").split(","),
  );
  const isShared = theirs.some((key) => active !== undefined && equalDigests(Buffer.from(key.trim(), "hex"), active));
  if (!isShared) return;
  throw new WrongSettings([
    `The master key of this installation (${own?.file ?? "PWPUSH_MASTER_KEY"}) is a key of Password Pusher (${envFile}), so nothing was ` +
      "imported: somebody with that key could open the backups of both. Give this installation its own key. Before its first " +
      "start: remove PWPUSH_MASTER_KEY, and a key is generated in DATA_DIR. Later: print a key with `sealpush keys generate` " +
      "and set it as PWPUSH_MASTER_KEY, set the old one as PWPUSH_MASTER_KEY_PREVIOUS, and run `sealpush keys rotate`.",
  ]);
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
