import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ImportSource, SourceFile } from "@sealpush/import-password-pusher";
import { describe, expect, it, onTestFinished } from "vitest";
import { referenceTime } from "../../../test/support/password-pusher/expected.ts";
import {
  type Installation,
  installProduction,
  keysOfFixture,
} from "../../../test/support/password-pusher/installations.ts";
import { collect } from "../../../test/support/password-pusher/open-source.ts";
import {
  bucket,
  credentials,
  type ObjectStore,
  region,
  startObjectStore,
} from "../../../test/support/s3/object-store.ts";
import { systemRandom } from "../../base/random.ts";
import { isSourceFileError, SourceFileError } from "../../import/source-values.ts";
import { openSource } from "./open-source.ts";

describe("a file in a bucket", () => {
  const environment = (endpoint: string) => ({
    ...keysOfFixture,
    PWP__FILES__S3__ENDPOINT: endpoint,
    PWP__FILES__S3__BUCKET: bucket,
    PWP__FILES__S3__REGION: region,
    PWP__FILES__S3__ACCESS_KEY_ID: credentials.accessKeyId,
    PWP__FILES__S3__SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });

  async function open(
    installation: Installation,
    { endpoint }: ObjectStore,
    changed: Readonly<Record<string, string>> = {},
  ): Promise<ImportSource> {
    const source = await openSource(
      { ...installation, environment: { ...environment(endpoint), ...changed } },
      {
        now: referenceTime,
        scratchFolder: join(installation.folder, "scratch"),
        clock: { now: () => referenceTime },
        random: systemRandom,
        pause: async () => undefined,
      },
    );
    onTestFinished(() => source.close());
    return source;
  }

  /** Push 58 has one file, which has moved to a bucket. */
  function installWithBucket(): Installation {
    return installProduction((db) =>
      db.exec("UPDATE active_storage_blobs SET service_name = 'minio' WHERE id IN (3, 11)"),
    );
  }

  async function filesOf(source: ImportSource, id: number): Promise<readonly SourceFile[]> {
    const [row] = await collect(source.pushes(id - 1));
    return row?.outcome === "read" ? (row.row.open?.files ?? []) : [];
  }

  it("is read from there, and other files from the disk", async () => {
    const store = await startObjectStore();
    const installation = installWithBucket();
    const large = Buffer.alloc(5 * 1024 ** 2, 7);
    const source = await open(installation, store);
    const [inBucket] = await filesOf(source, 58);
    const [onDisk] = await filesOf(source, 63);
    if (inBucket === undefined || onDisk === undefined) throw new Error("The fixture has lost files.");

    store.objects.set(inBucket.key, large);
    await expect(collect(source.readFile(inBucket))).rejects.toThrow("Its checksum differs");
    const checksum = createHash("md5").update(large).digest("base64");
    expect(Buffer.concat(await collect(source.readFile({ ...inBucket, checksum }))).equals(large)).toBe(true);
    expect(Buffer.concat(await collect(source.readFile(onDisk)))).toHaveLength(123);
    expect(source.warnings).toEqual([]);
  });

  it("is refused if it is missing, has another size, or cannot be reached", async () => {
    const store = await startObjectStore();
    const source = await open(installWithBucket(), store);
    const [file] = await filesOf(source, 56);
    if (file === undefined) throw new Error("The fixture has lost files.");

    await expect(collect(source.readFile(file))).rejects.toThrow(new SourceFileError("It is missing."));
    store.objects.set(file.key, Buffer.alloc((file.sizeBytes ?? 0) + 1));
    await expect(collect(source.readFile(file))).rejects.toThrow("It has more than the recorded 30 bytes.");
    store.objects.set(file.key, Buffer.alloc(0));
    await expect(collect(source.readFile(file))).rejects.toThrow("It has 0 of the recorded 30 bytes.");
    store.plan = () => "denied";
    const refused = collect(source.readFile(file));
    await expect(refused).rejects.toThrow("The object store answered GetObject with 403 (AccessDenied).");
    await expect(refused).rejects.toSatisfy(isSourceFileError);
  });

  it("is counted in a warning if its service is not named", async () => {
    const store = await startObjectStore();
    const installation = installWithBucket();
    const storage = [`s3://${bucket}?endpoint=${store.endpoint}&service=amazon`];
    const unnamed = await open({ ...installation, storage }, store, { PWP__FILES__S3__BUCKET: "" });

    expect(unnamed.warnings).toEqual([
      expect.stringMatching(/^10 files are in the service local, whose folder or bucket is not known/),
    ]);
  });

  it("never shows the credentials in requests or errors", async () => {
    const store = await startObjectStore();
    const source = await open(installWithBucket(), store);
    const [file] = await filesOf(source, 56);
    const message = file && (await collect(source.readFile(file)).catch(String));

    expect(`${message} ${store.seen.join()}`).not.toContain(credentials.secretAccessKey);
  });
});
