import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeCertificate } from "../../test/support/certificate.ts";
import { always, everyOther, type Fault, type FaultPlan } from "../../test/support/s3/faults.ts";
import { startForeignStore } from "../../test/support/s3/foreign-store.ts";
import { bucket, credentials, type ObjectStore, region, startObjectStore } from "../../test/support/s3/object-store.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/random.ts";
import { idleMsMax } from "../http/server.ts";
import { describeBlobStore } from "./blob-store.contract.ts";
import { BlobMissingError, type BlobStore, BlobStoreError } from "./blob-store.ts";
import { type BucketSettings, bucketUrl, defaultPatience } from "./s3/bucket.ts";
import { createS3BlobStore, partBytesFor } from "./s3-blob-store.ts";

const key = "0123456789abcdef0123456789abcdef";
const path = `01/${key}`;
const mebibyte = 1024 ** 2;

function openStore(
  settings: Omit<BucketSettings, "region" | "pathStyle">,
  pauses: number[] = [],
  clock: Clock = systemClock,
): BlobStore {
  return createS3BlobStore(
    { region, pathStyle: true, ...settings, blobBytesMax: 100 * mebibyte },
    {
      clock,
      random: systemRandom,
      pause: async (ms) => {
        pauses.push(ms);
      },
    },
    { ...defaultPatience, silenceMs: 500 },
  );
}

async function openFaulty(plan: FaultPlan = () => undefined): Promise<{ store: BlobStore; remote: ObjectStore }> {
  const remote = await startObjectStore();
  remote.plan = plan;
  return { remote, store: openStore({ endpoint: remote.endpoint, bucket, ...credentials }) };
}

async function* chunksOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

const read = (store: BlobStore, range = { start: 0, end: 100 * mebibyte }) => collect(store.read(key, range));

describeBlobStore("S3, on s3rver", async () => openStore(await startForeignStore()));
describeBlobStore("S3, on a store that checks signatures", async () => (await openFaulty()).store);

const harmless: readonly Fault[] = ["reset", "lost_answer", "error", "error_after", "slow_down"];
for (const fault of harmless) {
  describeBlobStore(
    `S3, where every other request fails with ${fault}`,
    async () => (await openFaulty(everyOther(fault))).store,
  );
}
describeBlobStore(
  "S3, where every other upload is damaged in transit",
  async () => (await openFaulty(everyOther("damaged", "PutObject", "UploadPart", "CompleteMultipartUpload"))).store,
);
describeBlobStore("S3, where every response is slow", async () => (await openFaulty(always("slow"))).store);
describeBlobStore(
  "S3, where every other response body is truncated",
  async () => (await openFaulty(everyOther("cut", "GetObject"))).store,
);

test("a bucket is in the path, after the endpoint's own path, or in the host name", () => {
  const url = (endpoint: string, pathStyle: boolean) => bucketUrl({ endpoint, bucket, pathStyle }).href;
  expect(url("https://s3.example.com:9000", true)).toBe("https://s3.example.com:9000/sealed-files");
  expect(url("https://example.com/storage/v1/s3", true)).toBe("https://example.com/storage/v1/s3/sealed-files");
  expect(url("https://s3.example.com:9000", false)).toBe("https://sealed-files.s3.example.com:9000/");
});

describe("uploads", () => {
  test("a small blob is one request, a larger one is sent in parts", async () => {
    const { store, remote } = await openFaulty();
    await store.write(key, chunksOf(randomBytes(5 * mebibyte)));
    expect(remote.operations).toEqual(["PutObject"]);
    await store.write(key, chunksOf(randomBytes(5 * mebibyte), randomBytes(1)));
    expect(remote.operations.slice(1)).toEqual([
      "CreateMultipartUpload",
      "UploadPart",
      "UploadPart",
      "CompleteMultipartUpload",
      "HeadObject",
    ]);
  });

  test("no part of the secret key is sent, and no address works without a signature", async () => {
    const { store, remote } = await openFaulty();
    await store.write(key, chunksOf(randomBytes(6 * mebibyte)));
    await read(store);
    await store.delete(key);
    expect(remote.seen.join()).not.toContain(credentials.secretAccessKey);
    expect(remote.seen.join()).not.toContain("X-Amz-Signature");
    expect(remote.seen.every((request) => request.includes("AWS4-HMAC-SHA256"))).toBe(true);
  });

  test("a response with the checksum of other bytes is an error", async () => {
    const { store, remote } = await openFaulty(always("wrong_digest", "PutObject", "UploadPart"));
    for (const bytes of [1_000, 6 * mebibyte]) {
      await expect(store.write(key, chunksOf(randomBytes(bytes)))).rejects.toThrow(/checksum of other bytes/);
    }
    remote.plan = () => undefined;
    await expect(read(store)).rejects.toBeInstanceOf(BlobMissingError);
  });

  test.each<[Fault, string, string]>([
    ["wrong_digest", "CompleteMultipartUpload", "WrongETag"],
    ["wrong_size", "HeadObject", "WrongSize"],
  ])("an object of several parts that is not what was sent (%s) is an error, and removed", async (fault, at, code) => {
    const { store, remote } = await openFaulty(always(fault, at));
    await expect(store.write(key, chunksOf(randomBytes(6 * mebibyte)))).rejects.toMatchObject({ code });
    expect([...remote.objects.keys(), ...remote.uploads.keys()]).toEqual([]);
  });

  test("an error in a response with status 200 is recognised", async () => {
    const { store } = await openFaulty(always("error_in_success", "CompleteMultipartUpload"));
    await expect(store.write(key, chunksOf(randomBytes(6 * mebibyte)))).rejects.toMatchObject({
      code: "InternalError",
    });
  });

  test("an upload that is missing at its end counts as not completed, even if the store confirmed it before", async () => {
    const { store } = await openFaulty(always("gone", "CompleteMultipartUpload"));
    await expect(store.write(key, chunksOf(randomBytes(6 * mebibyte)))).rejects.toBeInstanceOf(BlobStoreError);
  });

  test.each<[string, number, readonly string[]]>([
    ["one part", 1_000, ["PutObject"]],
    ["the first of several parts", 12 * mebibyte, ["UploadPart"]],
    ["the end of several parts", 12 * mebibyte, ["CompleteMultipartUpload"]],
  ])("a failed upload leaves neither object nor unfinished upload: %s", async (_name, bytes, operations) => {
    for (const fault of ["error", "error_after", "lost_answer"] as const) {
      const { store, remote } = await openFaulty(always(fault, ...operations));
      await expect(store.write(key, chunksOf(randomBytes(bytes)))).rejects.toBeInstanceOf(BlobStoreError);
      expect([...remote.objects.keys(), ...remote.uploads.keys()]).toEqual([]);
    }
  });

  test("a sender that disconnects leaves no unfinished upload", async () => {
    const { store, remote } = await openFaulty();
    async function* content(): AsyncGenerator<Uint8Array> {
      yield randomBytes(11 * mebibyte);
      throw new Error("gone");
    }
    await expect(store.write(key, content())).rejects.toThrow("gone");
    expect([...remote.objects.keys(), ...remote.uploads.keys()]).toEqual([]);
  });

  test("leftover parts are deleted together with the key", async () => {
    const { store, remote } = await openFaulty(always("error", "UploadPart", "AbortMultipartUpload", "DeleteObject"));
    await expect(store.write(key, chunksOf(randomBytes(12 * mebibyte)))).rejects.toBeInstanceOf(BlobStoreError);
    expect(remote.uploads.size).toBe(1);
    await expect(store.delete(key)).rejects.toBeInstanceOf(BlobStoreError);
    remote.plan = () => undefined;
    await store.delete(key);
    expect(remote.uploads.size).toBe(0);
  });

  test("a deletion ends the uploads of its key alone, and fails while the store still lists them", async () => {
    const { store, remote } = await openFaulty();
    for (const at of [path, `${path}0`]) remote.uploads.set(at, { path: at, parts: new Map() });
    remote.plan = always("gone", "AbortMultipartUpload");
    await expect(store.delete(key)).rejects.toMatchObject({ code: "UploadsRemain" });
    remote.plan = () => undefined;
    await store.delete(key);
    expect([...remote.uploads.keys()]).toEqual([`${path}0`]);
  });

  test("the first upload, whose response was lost, is removed with the key", async () => {
    const { store, remote } = await openFaulty(everyOther("lost_answer", "CreateMultipartUpload"));
    await store.write(key, chunksOf(randomBytes(6 * mebibyte)));
    expect(remote.uploads.size).toBe(1);
    expect(await read(store)).toHaveLength(6 * mebibyte);
    await store.delete(key);
    expect([remote.uploads.size, remote.objects.size]).toEqual([0, 0]);
  });

  test("two part buffers are enough, and no blob has more parts than S3 allows", () => {
    expect(partBytesFor(2 * 1024 ** 3)).toBe(5 * mebibyte);
    expect(partBytesFor(1024 ** 4)).toBe(105 * mebibyte);
    expect(Math.ceil(1024 ** 4 / partBytesFor(1024 ** 4))).toBeLessThanOrEqual(10_000);
  });
});

describe("a blob in several parts", () => {
  const content = randomBytes(7 * mebibyte);

  async function append({ growing }: BlobStore, position: number, end: number): Promise<void> {
    const writer = await growing.append(key, position, content.length);
    try {
      await writer.write(content.subarray(position, end));
      await writer.sync();
    } finally {
      await writer.close();
    }
  }
  const unfinished = ({ growing }: BlobStore, end: number) => collect(growing.readUnfinished(key, { start: 0, end }));
  const stored = ({ objects, uploads }: ObjectStore) => [...objects.keys(), ...uploads.keys()];

  test("is one upload, beside an object with its progress that its last byte removes", async () => {
    const { store, remote } = await openFaulty();
    await append(store, 0, 1_000);
    await append(store, 1_000, 6 * mebibyte);
    expect(remote.objects.get(`${path}.part`)?.length).toBeLessThan(mebibyte + 1_000);
    await append(store, 6 * mebibyte, content.length);
    expect(remote.operations).toEqual([
      ...["PutObject", "GetObject", "CreateMultipartUpload", "UploadPart", "PutObject"],
      ...["GetObject", "UploadPart", "CompleteMultipartUpload", "HeadObject", "DeleteObject"],
    ]);
    expect(stored(remote)).toEqual([path]);
  });

  test("that is small is sent once", async () => {
    const { store, remote } = await openFaulty();
    const writer = await store.growing.append(key, 0, 3);
    await writer.write(Buffer.from("abc"));
    await writer.sync();
    await writer.close();
    expect([remote.operations, stored(remote)]).toEqual([["PutObject"], [path]]);
  });

  test.each<[string, number, Fault, string]>([
    ["while a part was sent", 7 * mebibyte - 1, "error_after", "UploadPart"],
    ["before its progress was recorded", 7 * mebibyte - 1, "error", "PutObject"],
    ["before it was completed", 7 * mebibyte, "error", "CompleteMultipartUpload"],
    ["after it was completed", 7 * mebibyte, "error", "HeadObject"],
    ["before its progress was removed", 7 * mebibyte, "error", "DeleteObject"],
  ])("can be read up to its last sync after a crash %s, and is deleted whole", async (_when, end, fault, operation) => {
    const { store, remote } = await openFaulty();
    const synced = mebibyte;
    await append(store, 0, synced);
    remote.plan = always(fault, operation);
    await expect(append(store, synced, end)).rejects.toBeInstanceOf(BlobStoreError);
    remote.plan = () => undefined;
    for (let times = 0; times < 2; times += 1) {
      expect((await unfinished(store, synced - 1)).equals(content.subarray(0, synced))).toBe(true);
    }
    await store.delete(key);
    expect(stored(remote)).toEqual([]);
  });

  test("is not changed by its earlier writer once it was read after a crash", async () => {
    const { store, remote } = await openFaulty();
    await append(store, 0, 6 * mebibyte);
    const late = await store.growing.append(key, 6 * mebibyte, content.length);
    await late.write(content.subarray(6 * mebibyte));
    expect(await unfinished(store, 6 * mebibyte - 1)).toHaveLength(6 * mebibyte);
    await expect(late.sync()).rejects.toMatchObject({ code: "NoSuchUpload" });
    await late.close();
    expect(await read(store)).toHaveLength(6 * mebibyte);
    await store.delete(key);
    expect(stored(remote)).toEqual([]);
  });

  test("is missing once the service has removed its parts or its progress, or for parts of another size", async () => {
    const lose: readonly ((remote: ObjectStore) => unknown)[] = [
      ({ uploads }) => uploads.clear(),
      ({ objects }) => objects.delete(`${path}.part`),
      ({ objects }) => objects.set(`${path}.part`, Buffer.alloc(3)),
      ({ objects }) => objects.set(`${path}.part`, Buffer.alloc(100, 255)),
      ({ objects }) => objects.set(`${path}.part`, Buffer.from("6291456\nid\n\0\0\0\x0b")),
    ];
    for (const [index, damage] of lose.entries()) {
      const { store, remote } = await openFaulty();
      await append(store, 0, 6 * mebibyte);
      damage(remote);
      if (index > 0) await expect(append(store, 6 * mebibyte, 7 * mebibyte)).rejects.toBeInstanceOf(BlobMissingError);
      await expect(unfinished(store, 10)).rejects.toBeInstanceOf(BlobMissingError);
      await store.delete(key);
      expect(stored(remote)).toEqual([]);
    }
  });
});

describe("reads", () => {
  const content = randomBytes(400_000);

  async function openWithBlob(plan: FaultPlan): Promise<{ store: BlobStore; remote: ObjectStore }> {
    const opened = await openFaulty();
    await opened.store.write(key, chunksOf(content));
    opened.remote.plan = plan;
    return opened;
  }

  test.each<Fault>(["cut", "short"])("a truncated response (%s) is resumed where it ended", async (fault) => {
    const { store, remote } = await openWithBlob(everyOther(fault, "GetObject"));
    expect((await read(store)).equals(content)).toBe(true);
    expect(remote.operations.filter((operation) => operation === "GetObject")).toHaveLength(2);
  });

  test.each<Fault>(["cut", "short"])(
    "responses that are always truncated (%s) are an error, not the end of the blob",
    async (fault) => {
      const { store } = await openWithBlob(always(fault, "GetObject"));
      await expect(read(store)).rejects.toBeInstanceOf(BlobStoreError);
    },
  );

  test("a response with another range than requested is refused", async () => {
    const { store } = await openWithBlob(always("wrong_range", "GetObject"));
    await expect(read(store, { start: 5, end: 10 })).rejects.toThrow(/not the requested range/);
  });

  test("a broken response is resumed only from the same object", async () => {
    const { store, remote } = await openWithBlob(everyOther("cut", "GetObject"));
    const chunks = store.read(key, { start: 0, end: content.length - 1 })[Symbol.asyncIterator]();
    await chunks.next();
    remote.objects.set(path, randomBytes(400_000));
    const rest = async () => {
      while ((await chunks.next()).done !== true);
    };
    await expect(rest()).rejects.toMatchObject({ code: "PreconditionFailed" });
  });

  test("a missing bucket does not count as a missing blob or as a confirmed deletion", async () => {
    const { remote } = await openFaulty();
    const otherStore = openStore({ endpoint: remote.endpoint, bucket: "another", ...credentials });
    await expect(read(otherStore)).rejects.toMatchObject({ code: "NoSuchBucket" });
    await expect(otherStore.delete(key)).rejects.toMatchObject({ code: "NoSuchBucket" });
  });
});

describe("a failing store", () => {
  test("is tried four times with growing, partly random pauses", async () => {
    const remote = await startObjectStore();
    remote.plan = always("slow_down");
    const pauses: number[] = [];
    const store = openStore({ endpoint: remote.endpoint, bucket, ...credentials }, pauses);
    await expect(read(store)).rejects.toMatchObject({ code: "SlowDown", status: 503 });
    expect(remote.operations).toHaveLength(4);
    expect(pauses).toHaveLength(3);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(125 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(250 * 2 ** index);
    }
  });

  test("gets only one request if it refuses, because a retry does not help", async () => {
    const { remote } = await openFaulty();
    const secretAccessKey = "another-secret-key";
    const store = openStore({ endpoint: remote.endpoint, bucket, ...credentials, secretAccessKey });
    const failure = await read(store).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "SignatureDoesNotMatch", status: 403 });
    expect(remote.operations).toEqual(["GetObject"]);
    expect(String(failure)).not.toMatch(/ACCESSKEY|another-secret|0123456789abcdef|127\.0\.0\.1|[0-9a-f]{64}/);
  });

  test("causes a timeout, which the error reports, if it does not answer", async () => {
    const { store, remote } = await openFaulty(always("silent"));
    await expect(read(store)).rejects.toMatchObject({ code: "ETIMEDOUT" });
    await expect(store.write(key, chunksOf(randomBytes(6 * mebibyte)))).rejects.toMatchObject({ code: "ETIMEDOUT" });
    expect(remote.operations.length).toBeGreaterThan(4);
  });

  test("is not waited for once the signal of the read is aborted", async () => {
    const abort = new AbortController();
    const { store, remote } = await openFaulty(() => {
      abort.abort();
      return "silent";
    });
    const reading = collect(store.read(key, { start: 0, end: 100 }, abort.signal));
    await expect(reading).rejects.toMatchObject({ name: "S3Error", code: "ABORT_ERR" });
    expect(remote.operations).toEqual(["GetObject"]);
  });

  test("is not waited for longer than the server keeps the client's connection open", async () => {
    const { remote } = await openFaulty(always("silent"));
    const startedAt = Date.now();
    const clock = { now: () => startedAt + remote.operations.length * defaultPatience.silenceMs };
    const store = openStore({ endpoint: remote.endpoint, bucket, ...credentials }, [], clock);
    await expect(store.write(key, chunksOf(Buffer.from("a")))).rejects.toMatchObject({ code: "ETIMEDOUT" });
    expect(remote.operations).toEqual(["PutObject", "PutObject", "ListMultipartUploads"]);
    expect(clock.now() - startedAt).toBeLessThan(idleMsMax);
  });

  test("gets nothing if its certificate cannot be verified", async () => {
    const requests: string[] = [];
    const { key: privateKey, certificate } = makeCertificate();
    const https = createServer({ key: privateKey, cert: certificate }, ({ url = "" }) => void requests.push(url));
    https.listen(0, "127.0.0.1");
    await once(https, "listening");
    onTestFinished(() => void https.close());
    const endpoint = `https://127.0.0.1:${(https.address() as AddressInfo).port}`;
    const store = openStore({ endpoint, bucket, ...credentials });
    await expect(read(store)).rejects.toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    expect(requests).toEqual([]);
  });

  test("causes a store error, not a bug, if it is unreachable", async () => {
    const { store, remote } = await openFaulty();
    await remote.close();
    await expect(read(store)).rejects.toMatchObject({ name: "S3Error", code: "ECONNREFUSED" });
    await expect(store.write(key, chunksOf(Buffer.from("a")))).rejects.toBeInstanceOf(BlobStoreError);
    await expect(store.delete(key)).rejects.toBeInstanceOf(BlobStoreError);
  });

  test("can still delete if it cannot list multipart uploads", async () => {
    const foreign = await startForeignStore();
    const store = openStore(foreign);
    await store.write(key, chunksOf(Buffer.from("a")));
    expect([...foreign.objects().keys()]).toEqual([path]);
    await store.delete(key);
    expect([...foreign.objects().keys()]).toEqual([]);
  });
});
