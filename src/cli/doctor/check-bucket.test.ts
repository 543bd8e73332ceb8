import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { testConfig } from "../../../test/support/domain.ts";
import { always } from "../../../test/support/s3/faults.ts";
import { startForeignStore } from "../../../test/support/s3/foreign-store.ts";
import { environmentOf, startObjectStore } from "../../../test/support/s3/object-store.ts";
import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { checkBucket } from "./check-bucket.ts";
import { check } from "./finding.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "sealpush-doctor-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const run = (environment: Readonly<Record<string, string>>, dataDir = folder()) =>
  check("files in S3", () =>
    checkBucket(testConfig(dataDir, environment), {
      clock: systemClock,
      random: systemRandom,
      pause: async () => undefined,
    }),
  );

describe("checkBucket", () => {
  it("reports nothing if files are stored on disk", async () => {
    expect(await run({})).toEqual([]);
  });

  it("stores, reads and deletes, and leaves nothing behind", async () => {
    const remote = await startObjectStore();
    expect(await run(environmentOf(remote))).toMatchObject([{ level: "ok" }]);
    expect(remote.operations).toEqual(expect.arrayContaining(["PutObject", "GetObject", "DeleteObject"]));
    expect([remote.objects.size, remote.uploads.size]).toEqual([0, 0]);
  });

  it("names the missing permission", async () => {
    const needed = [
      "PutObject",
      "GetObject",
      "CreateMultipartUpload",
      "AbortMultipartUpload",
      "ListMultipartUploads",
      "DeleteObject",
    ];
    for (const operation of needed) {
      const remote = await startObjectStore();
      remote.plan = always("denied", operation);
      const sentence = expect.stringContaining(`${operation} with 403 (AccessDenied)`);
      expect(await run(environmentOf(remote))).toMatchObject([{ level: "fail", sentence }]);
    }
  });

  it("warns about a bucket that keeps versions, and about files that are still on disk", async () => {
    const remote = await startObjectStore();
    remote.plan = always("versioned", "PutObject");
    const dataDir = folder();
    mkdirSync(join(dataDir, "blobs", "00"), { recursive: true });
    writeFileSync(join(dataDir, "blobs", "00", "a"), "");
    expect(await run(environmentOf(remote), dataDir)).toMatchObject([
      { level: "ok" },
      { level: "warn", sentence: expect.stringContaining("keeps versions") },
      { level: "warn", sentence: expect.stringContaining("copy them into the bucket") },
    ]);
  });

  it("reports a store that does not abort unfinished uploads", async () => {
    const foreign = await startForeignStore();
    expect(await run(foreign.environment)).toMatchObject([
      { level: "ok" },
      { level: "warn", sentence: expect.stringContaining("lifecycle rule") },
    ]);
  });

  it("fails if the store does not answer", async () => {
    const remote = await startObjectStore();
    await remote.close();
    expect(await run(environmentOf(remote))).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("ECONNREFUSED") },
    ]);
  });
});
