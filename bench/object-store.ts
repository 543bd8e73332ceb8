import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { nodeOn } from "./cores.ts";

const program = createRequire(import.meta.url).resolve("s3rver/bin/s3rver.js");
const bucket = "sealed-files";

export interface ObjectStoreProcess {
  /** Settings of a server that stores its files there. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** An S3 server from npm, with its files in the folder, in a separate process, so that its memory does not count as the server's. */
export async function startObjectStore(core: number | undefined, folder: string): Promise<ObjectStoreProcess> {
  mkdirSync(folder, { recursive: true });
  const place = ["-d", folder, "-a", "127.0.0.1", "-p", "0", "-s", "--configure-bucket", bucket];
  const [command, parameters] = nodeOn(core, [program, ...place]);
  const child = spawn(command, parameters, { stdio: ["ignore", "pipe", "inherit"], env: { PATH: process.env.PATH } });
  const closed = once(child, "close");
  const port = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const [, found] = /127\.0\.0\.1:(\d+)/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    closed.then(() => reject(new Error("The object store ended.")), reject);
  });
  return {
    environment: {
      PWP__FILES__STORAGE: "s3",
      PWP__FILES__S3__ENDPOINT: `http://127.0.0.1:${port}`,
      PWP__FILES__S3__BUCKET: bucket,
      PWP__FILES__S3__ACCESS_KEY_ID: "S3RVER",
      PWP__FILES__S3__SECRET_ACCESS_KEY: "S3RVER",
    },
    async stop() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
