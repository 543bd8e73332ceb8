import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { BucketDeps } from "../../blobs/s3/bucket.ts";
import type { Config } from "../../config/config.ts";
import { type Finding, ok, warn } from "./finding.ts";

const name = "files in S3";

/** Can files be stored, read and deleted where the settings say? Nothing to say where they lie on this disk. */
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
        `Bucket ${s3.bucket} keeps versions: deleted files stay in it, though nobody can open them. LockName it off.`,
      ),
    );
  }
  if (!endsUploads) {
    findings.push(
      warn(name, "The store does not end unfinished uploads on demand: have it remove them by a lifecycle rule."),
    );
  }
  const left = join(config.dataDir, "blobs");
  if (existsSync(left) && readdirSync(left).length > 0) {
    findings.push(
      warn(name, `Files still lie in ${left}, where nothing looks for them now: copy them into the bucket.`),
    );
  }
  return findings;
}
