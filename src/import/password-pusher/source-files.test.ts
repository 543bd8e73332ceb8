import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../../test/support/engine-database.ts";
import {
  type Installation,
  installProduction,
  keysOfFixture,
} from "../../../test/support/password-pusher/installations.ts";
import { collect, openSource, sourceDeps } from "../../../test/support/password-pusher/open-source.ts";
import { bucket, credentials, region, startObjectStore } from "../../../test/support/s3/object-store.ts";
import { type SourceFile, SourceFileError } from "../source.ts";
import { openSourceFiles, type SourceFiles } from "./source-files.ts";

const key = "abcdefghijklmnopqrstuvwxyz01";
const content = Buffer.from("what was pushed");

function fileOf(bytes: Buffer, changed: Partial<SourceFile> = {}): SourceFile {
  const checksum = createHash("md5").update(bytes).digest("base64");
  return {
    id: 1,
    filename: "x",
    contentType: null,
    sizeBytes: bytes.length,
    checksum,
    service: "local",
    key,
    ...changed,
  };
}

function filesIn(folder: string): SourceFiles {
  return openSourceFiles({ folder, buckets: new Map() }, sourceDeps({ folder }));
}

function put(folder: string, bytes: Buffer): string {
  const path = join(folder, "ab/cd", key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

async function read(files: SourceFiles, file: SourceFile): Promise<Buffer> {
  return Buffer.concat(await collect(files.read(file)));
}

describe("a file on the disk", () => {
  it("is read whole, also when it is empty or has no checksum on record", async () => {
    const folder = makeFolder();
    put(folder, content);
    expect(await read(filesIn(folder), fileOf(content, { checksum: null }))).toEqual(content);

    put(folder, Buffer.alloc(0));
    expect(await read(filesIn(folder), fileOf(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it("is found flat too, as it is when somebody fetched it from a bucket", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, key), content);
    expect(await read(filesIn(folder), fileOf(content, { service: "google" }))).toEqual(content);
  });

  it.each([
    ["shorter", content.subarray(1), /^It has 14 bytes of the 15 on record\.$/],
    ["longer", Buffer.concat([content, content]), /^It has more than the 15 bytes on record\.$/],
    ["other bytes", Buffer.from("what was pulled"), /checksum is another/],
  ])("is told when it has become %s", async (_, bytes, message) => {
    const folder = makeFolder();
    put(folder, bytes);
    await expect(read(filesIn(folder), fileOf(content))).rejects.toThrow(message);
  });

  it("is told when it is missing, a folder, a link to somewhere else, or a pipe", async () => {
    const folder = makeFolder();
    const files = filesIn(folder);
    await expect(read(files, fileOf(content))).rejects.toThrow(new SourceFileError("It is not there."));

    const path = put(folder, content);
    renameSync(path, join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), path);
    await expect(read(files, fileOf(content))).rejects.toThrow("It cannot be read (ELOOP).");

    rmSync(path);
    mkdirSync(path);
    await expect(read(files, fileOf(content))).rejects.toThrow("What lies in its place is no file.");

    rmSync(path, { recursive: true });
    execFileSync("mkfifo", [path]);
    await expect(read(files, fileOf(content))).rejects.toThrow("What lies in its place is no file.");
  });

  it.each(["../../../../etc/passwd", "ab/cd", "..", "", "a\0bcdefghijk", "abcdefgh.txt"])(
    "is never looked for under the key %j",
    async (wrong) => {
      const folder = makeFolder();
      await expect(read(filesIn(folder), fileOf(content, { key: wrong }))).rejects.toThrow("a shape that no key has");
    },
  );
});

describe("a file in a bucket", () => {
  const environment = (endpoint: string) => ({
    ...keysOfFixture,
    PWP__FILES__S3__ENDPOINT: endpoint,
    PWP__FILES__S3__BUCKET: bucket,
    PWP__FILES__S3__REGION: region,
    PWP__FILES__S3__ACCESS_KEY_ID: credentials.accessKeyId,
    PWP__FILES__S3__SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });

  /** Push 58 has one file, which has moved to a bucket. */
  function installWithBucket(): Installation {
    return installProduction((db) =>
      db.exec("UPDATE active_storage_blobs SET service_name = 'minio' WHERE id IN (3, 11)"),
    );
  }

  async function filesOf(source: Awaited<ReturnType<typeof openSource>>, id: number): Promise<readonly SourceFile[]> {
    const [row] = await collect(source.pushes(id - 1));
    return row?.outcome === "read" ? (row.row.open?.files ?? []) : [];
  }

  it("is read from there, the others from the disk", async () => {
    const store = await startObjectStore();
    const installation = installWithBucket();
    const large = Buffer.alloc(5 * 1024 ** 2, 7);
    const source = await openSource(installation, { environment: environment(store.endpoint) });
    const [inBucket] = await filesOf(source, 58);
    const [onDisk] = await filesOf(source, 63);
    if (inBucket === undefined || onDisk === undefined) throw new Error("The fixture has lost files.");

    store.objects.set(inBucket.key, large);
    await expect(collect(source.readFile(inBucket))).rejects.toThrow("checksum is another");
    const checksum = createHash("md5").update(large).digest("base64");
    expect(Buffer.concat(await collect(source.readFile({ ...inBucket, checksum }))).equals(large)).toBe(true);
    expect(Buffer.concat(await collect(source.readFile(onDisk)))).toHaveLength(123);
    expect(source.warnings).toEqual([]);
  });

  it("is told when it is missing, longer than on record, or out of reach", async () => {
    const store = await startObjectStore();
    const source = await openSource(installWithBucket(), { environment: environment(store.endpoint) });
    const [file] = await filesOf(source, 56);
    if (file === undefined) throw new Error("The fixture has lost files.");

    await expect(collect(source.readFile(file))).rejects.toThrow(new SourceFileError("It is not there."));
    store.objects.set(file.key, Buffer.alloc((file.sizeBytes ?? 0) + 1));
    await expect(collect(source.readFile(file))).rejects.toThrow("It has more than the 30 bytes on record.");
    store.objects.set(file.key, Buffer.alloc(0));
    await expect(collect(source.readFile(file))).rejects.toThrow("It has 0 bytes of the 30 on record.");
    store.plan = () => "denied";
    const refused = collect(source.readFile(file));
    await expect(refused).rejects.toThrow("The object store answered GetObject with 403 (AccessDenied).");
    await expect(refused).rejects.toBeInstanceOf(SourceFileError);
  });

  it("is counted at the start when nothing says where that service is", async () => {
    const store = await startObjectStore();
    const installation = installWithBucket();
    const unnamed = await openSource(installation, {
      storage: [`s3://${bucket}?endpoint=${store.endpoint}&service=amazon`],
      environment: { ...environment(store.endpoint), PWP__FILES__S3__BUCKET: "" },
    });

    expect(unnamed.warnings).toEqual([
      expect.stringMatching(/^10 files lie in the service local, which --storage does not name/),
    ]);
  });

  it("never shows its credentials in what is asked for or told", async () => {
    const store = await startObjectStore();
    const source = await openSource(installWithBucket(), { environment: environment(store.endpoint) });
    const [file] = await filesOf(source, 56);
    const told = file && (await collect(source.readFile(file)).catch(String));

    expect(`${told} ${store.seen.join()}`).not.toContain(credentials.secretAccessKey);
  });
});
