import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { BucketDeps } from "../../blobs/s3/bucket.ts";
import type { Config } from "../../config/config.ts";
import { type Finding, ok, warn } from "./finding.ts";

const name = "files in S3";

/** Whether files can be stored, read and deleted in the bucket. No findings if files are stored on this disk. */
export async function checkBucket(config: Config, deps: BucketDeps): Promise<Finding[]> {
  const { s3 } = config.files;
  if (s3 === undefined) return [];
  const { probeBucket } = await import("../../blobs/s3/probe-bucket.ts");
  const { versioned, endsUploads } = await probeBucket(s3, deps);
  const findings = [ok(name, `An object in bucket ${s3.bucket} was written, read and deleted.`)];
  if (versioned) {
    findings.push(
      warn(
        name,
        `Bucket ${s3.bucket} keeps versions: deleted files stay in it, although nobody can decrypt them. Turn versioning off.`,
      ),
    );
  }
  if (!endsUploads) {
    findings.push(
      warn(name, "The store does not abort unfinished uploads on request: add a lifecycle rule that removes them."),
    );
  }
  const left = join(config.dataDir, "blobs");
  if (existsSync(left) && readdirSync(left).length > 0) {
    findings.push(
      warn(name, `There are still files in ${left}, which is not used any more: copy them into the bucket.`),
    );
  }
  return findings;
}
