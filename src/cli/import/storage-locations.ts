import type { ObjectReader } from "@sealpush/import-password-pusher";
import { BlobMissingError, BlobStoreError } from "../../blobs/blob-store.ts";
import type { Bucket, BucketDeps, BucketSettings } from "../../blobs/s3/bucket.ts";
import { s3Credential, s3Endpoint, s3Name } from "../../config/topics/files.ts";
import { boolean, type ValueType } from "../../config/value-types.ts";
import { SourceFileError } from "../../import/source-values.ts";
import { WrongSettings } from "../errors.ts";

export type SourceEnvironment = Readonly<Record<string, string | undefined>>;

export type StorageLocations = ReturnType<typeof storageLocationsOf>;

const bucketDefault = "pwpush-files";
const regionDefault = "us-east-1";
const bucketName = s3Name("a bucket's name", 3);
const regionName = s3Name("a region's name", 1);
const parameters = ["endpoint", "region", "path_style", "service"];
const prefix = "PWP__FILES__S3__";

/**
 * @param storage a folder, or `s3://BUCKET?endpoint=...&region=...&path_style=false&service=NAME`, of which all
 * parameters may be left out; at most one folder. The keys of a bucket come from the source's own environment, since a
 * command's arguments can be seen by others on the machine.
 * @returns `folder` for files on disk, and for files that were fetched from other services; undefined: none was given. `buckets` by
 * the name of the service in the source; "" is for each service without an entry of its own. @throws WrongSettings.
 */
export function storageLocationsOf(storage: readonly string[], environment: SourceEnvironment) {
  const folders = storage.filter((location) => !/^s3:/i.test(location));
  if (folders.length > 1) throw new WrongSettings(["--storage names two folders: put the files into one."]);
  const buckets = new Map<string, BucketSettings>();
  // Leftover keys of a bucket that is no longer used must not stop the import.
  const keyNames = ["ACCESS_KEY_ID", "SECRET_ACCESS_KEY"];
  if (keyNames.every((name) => environmentOf(environment, name) !== undefined)) {
    buckets.set("", settingsOf({}, environment));
  }
  for (const location of storage) {
    if (!/^s3:/i.test(location)) continue;
    const url = URL.parse(location);
    if (url === null || !/^s3:\/\/[^/?#@:]+\/?(?:[?#]|$)/i.test(location)) {
      throw new WrongSettings(["--storage must be a folder or s3://BUCKET, with its keys in the env file."]);
    }
    const given = Object.fromEntries(url.searchParams);
    if (!Object.keys(given).every((name) => parameters.includes(name))) {
      throw new WrongSettings([`--storage s3://… takes the parameters ${parameters.join(", ")} and no other.`]);
    }
    buckets.set(given.service ?? "", settingsOf({ ...given, bucket: url.hostname }, environment));
  }
  return { folder: folders[0], buckets };
}

function settingsOf(given: SourceEnvironment, environment: SourceEnvironment): BucketSettings {
  const accessKeyId = environmentOf(environment, "ACCESS_KEY_ID");
  const secretAccessKey = environmentOf(environment, "SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new WrongSettings([
      `Files in a bucket need ${prefix}ACCESS_KEY_ID and ${prefix}SECRET_ACCESS_KEY in the env file.`,
    ]);
  }
  const named = (parameter: string) =>
    given[parameter] === undefined ? prefix + parameter.toUpperCase() : `The ${parameter} of --storage`;
  const regionText = given.region ?? environmentOf(environment, "REGION") ?? regionDefault;
  const region = checked(named("region"), regionName, regionText);
  const endpoint = given.endpoint ?? environmentOf(environment, "ENDPOINT") ?? `https://s3.${region}.amazonaws.com`;
  const withScheme = endpoint.includes("://") ? endpoint : `https://${endpoint}`;
  return {
    endpoint: checked(named("endpoint"), s3Endpoint, withScheme),
    bucket: checked(named("bucket"), bucketName, given.bucket ?? environmentOf(environment, "BUCKET") ?? bucketDefault),
    region,
    pathStyle: checked(named("path_style"), boolean, given.path_style ?? "true"),
    accessKeyId: checked(`${prefix}ACCESS_KEY_ID`, s3Credential, accessKeyId),
    secretAccessKey: checked(`${prefix}SECRET_ACCESS_KEY`, s3Credential, secretAccessKey),
  };
}

function environmentOf(environment: SourceEnvironment, name: string): string | undefined {
  const value = environment[prefix + name]?.trim() ?? "";
  return value === "" ? undefined : value;
}

function checked<T>(what: string, type: ValueType<T>, text: string): T {
  const parsed = type.parse(text);
  if (parsed.ok) return parsed.value;
  throw new WrongSettings([`${what} must be ${parsed.reason ?? type.allowed}.`]);
}

export function objectReaderOf({ buckets }: StorageLocations, deps: BucketDeps): ObjectReader {
  const settingsOfService = (service: string) => buckets.get(service) ?? buckets.get("");
  const opened = new Map<string, Promise<Bucket>>();
  async function bucketOf(service: string): Promise<Bucket> {
    const settings = settingsOfService(service);
    if (settings === undefined) throw new Error(`No bucket is known for the service ${service}.`);
    const bucket = opened.get(service) ?? openBucket(settings, deps);
    opened.set(service, bucket);
    return await bucket;
  }
  return {
    has: (service) => settingsOfService(service) !== undefined,
    async *read(service, key, bytesMax) {
      const { readObject } = await import("../../blobs/s3/read-object.ts");
      try {
        yield* readObject(await bucketOf(service), key, { start: 0, end: bytesMax - 1 });
      } catch (error) {
        if (error instanceof BlobMissingError) throw new SourceFileError("It is missing.", { cause: error });
        throw error instanceof BlobStoreError ? new SourceFileError(error.message, { cause: error }) : error;
      }
    },
  };
}

/** Loaded on demand: most installations keep their files on disk. */
async function openBucket(settings: BucketSettings, deps: BucketDeps): Promise<Bucket> {
  const { createBucket, defaultPatience } = await import("../../blobs/s3/bucket.ts");
  return createBucket(settings, deps, defaultPatience);
}
