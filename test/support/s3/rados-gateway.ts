import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { amzDate, authorization } from "../../../src/blobs/s3/signature.ts";
import { freePort } from "../free-port.ts";
import { makeOwnFolder } from "../postgres/cluster.ts";
import { startGuarded } from "../postgres/guarded-process.ts";
import { bucket, credentials, region } from "./object-store.ts";

/** `/usr/bin/radosgw` of Debian's package, with Ceph's other programs beside it. undefined: no tests on it. */
export const radosGateway = process.env.SEALPUSH_TEST_RADOSGW || undefined;

const script = resolve(import.meta.dirname, "rados-gateway.sh");

/** Ceph's S3 server on 127.0.0.1 with an empty bucket: checks signatures and digests as its makers understand them. */
export async function startRadosGateway(): Promise<AsyncDisposable & { readonly endpoint: string }> {
  const folder = makeOwnFolder(null);
  const [monitorPort, port] = await Promise.all([freePort(), freePort()]);
  const { accessKeyId, secretAccessKey } = credentials;
  try {
    const running = await startGuarded({
      folder,
      runAs: null,
      command: ["bash", script, folder, `${monitorPort}`, `${port}`, accessKeyId, secretAccessKey],
      endsBy: "TERM",
      readyLine: /gateway ready/,
      onLine: () => undefined,
    });
    await makeBucket(`127.0.0.1:${port}`);
    return { endpoint: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => running.remove() };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function makeBucket(host: string): Promise<void> {
  const payloadSha256 = createHash("sha256").digest("hex");
  const headers = { host, "x-amz-date": amzDate(Date.now()), "x-amz-content-sha256": payloadSha256 };
  const request = { method: "PUT", path: `/${bucket}`, query: {}, headers, payloadSha256 };
  const signed = { ...headers, authorization: authorization(request, { region, service: "s3" }, credentials) };
  const answer = await fetch(`http://${host}/${bucket}`, { method: "PUT", headers: signed });
  if (!answer.ok) throw new Error(`The bucket was not made: ${await answer.text()}`);
}
