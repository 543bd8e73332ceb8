import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import S3rver from "s3rver";
import { onTestFinished } from "vitest";
import { filesIn } from "../raw-files.ts";

/** An independent S3 server from npm that keeps its files on disk. It does not check signatures. */
export interface ForeignStore {
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Settings of a server that stores its files there. */
  readonly environment: Readonly<Record<string, string>>;
  /** Path in the bucket -> bytes. */
  objects(): ReadonlyMap<string, Buffer>;
  /** All bytes that the store has on disk. */
  files(): ReadonlyMap<string, Buffer>;
  stop(): Promise<void>;
}

const bucket = "sealed-files";
const objectSuffix = "._S3rver_object";

export async function startForeignStore(): Promise<ForeignStore> {
  const directory = mkdtempSync(join(tmpdir(), "sealpush-s3rver-"));
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    await server.close();
  };
  onTestFinished(async () => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const place = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    accessKeyId: "S3RVER",
    secretAccessKey: "S3RVER",
  };
  const files = () => filesIn(directory);
  return {
    ...place,
    environment: {
      PWP__FILES__STORAGE: "s3",
      PWP__FILES__S3__ENDPOINT: place.endpoint,
      PWP__FILES__S3__BUCKET: bucket,
      PWP__FILES__S3__ACCESS_KEY_ID: place.accessKeyId,
      PWP__FILES__S3__SECRET_ACCESS_KEY: place.secretAccessKey,
    },
    files,
    objects() {
      const found = [...files()].filter(([name]) => name.endsWith(objectSuffix));
      return new Map(found.map(([name, bytes]) => [name.slice(`${bucket}/`.length, -objectSuffix.length), bytes]));
    },
    stop,
  };
}
