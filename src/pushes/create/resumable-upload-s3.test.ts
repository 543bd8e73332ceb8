import { expect, test } from "vitest";
import { openTestDomain, type TestDomain } from "../../../test/support/domain.ts";
import { countRows } from "../../../test/support/engine-database.ts";
import {
  blobKeyOf,
  broken,
  chunksOf,
  contentOf,
  failingAt,
  noSpace,
  open,
  owner,
  pushesWith,
  pushOf,
} from "../../../test/support/resumable-uploads.ts";
import { always } from "../../../test/support/s3/faults.ts";
import { environmentOf, type ObjectStore, startObjectStore } from "../../../test/support/s3/object-store.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { hourMs, secondMs } from "../../base/clock.ts";
import { segmentBytes } from "../../crypto/stream-seal.ts";
import { patternBytes } from "../../crypto/stream-test-support.ts";
import type { Pushes } from "../pushes.ts";

/** More than one part of a multipart upload. */
const sentBytes = 90 * segmentBytes;
const bytes = patternBytes(sentBytes + 2 * segmentBytes + 5);

async function openFixture(): Promise<{ readonly fixture: TestDomain; readonly remote: ObjectStore }> {
  const remote = await startObjectStore();
  return { remote, fixture: await openTestDomain({ environment: environmentOf(remote) }) };
}

const sendFirst = (pushes: Pushes, address: string) =>
  pushes.receiveUpload(address, 0, chunksOf(bytes.subarray(0, sentBytes)), owner);
const sendRest = (pushes: Pushes, address: string) =>
  pushes.receiveUpload(address, sentBytes, chunksOf(bytes.subarray(sentBytes)), owner);

/** Creates the push, and expects its file and nothing else in the bucket. */
async function expectWhole({ domain, ...fixture }: TestDomain, remote: ObjectStore, address: string): Promise<void> {
  const [blobKey = ""] = await blobKeyOf({ domain, ...fixture });
  const found = await contentOf(domain.pushes, (await pushOf(domain.pushes, [address])).urlToken);
  expect(found.map((content) => content.equals(bytes))).toEqual([true]);
  await makeSweeper({ domain, ...fixture }).sweep();
  expect([...remote.objects.keys()]).toEqual([expect.stringMatching(new RegExp(`/${blobKey}$`))]);
  expect(remote.uploads.size).toBe(0);
}

test("a file that breaks off several times is stored in the bucket, and read back whole", async () => {
  const { fixture, remote } = await openFixture();
  await using _ = fixture;
  const { pushes } = fixture.domain;
  const address = await open(pushes, bytes);
  let offset = 0;
  for (const end of [100_000, 80 * segmentBytes + 1, sentBytes + 1]) {
    const content = chunksOf(bytes.subarray(offset, end), broken);
    await expect(pushes.receiveUpload(address, offset, content, owner)).rejects.toBe(broken);
    offset = (await pushes.findUpload(address, owner))?.receivedBytes ?? -1;
    expect(offset).toBe(Math.floor(end / segmentBytes) * segmentBytes);
  }
  await sendRest(pushes, address);
  await expectWhole(fixture, remote, address);
});

test("two requests at the same time are one that writes", async () => {
  const { fixture, remote } = await openFixture();
  await using _ = fixture;
  const { pushes } = fixture.domain;
  const address = await open(pushes, bytes);
  const sent = await Promise.all([sendFirst(pushes, address), sendFirst(pushes, address)]);
  expect(sent.map(({ outcome }) => outcome).sort()).toEqual(["busy", "received"]);
  await sendRest(pushes, address);
  await expectWhole(fixture, remote, address);
});

test("after an interruption the acknowledged bytes are read from the bucket and sealed again", async () => {
  const { fixture, remote } = await openFixture();
  await using _ = fixture;
  const { pushes, blobs } = fixture.domain;
  const address = await open(pushes, bytes);
  await sendFirst(pushes, address);
  const [earlierKey] = await blobKeyOf(fixture);
  const failing = pushesWith(fixture, failingAt(blobs, 2, noSpace));
  await expect(sendRest(failing, address)).rejects.toMatchObject({ code: "unavailable" });
  fixture.clock.advance(31 * secondMs);
  // A copy that fails leaves the earlier file as it is.
  remote.plan = always("error", "UploadPart");
  await expect(sendRest(pushes, address)).rejects.toMatchObject({ code: "unavailable" });
  remote.plan = () => undefined;
  fixture.clock.advance(31 * secondMs);
  expect(await sendRest(pushes, address)).toMatchObject({ receivedBytes: bytes.length });
  expect(await blobKeyOf(fixture)).not.toEqual([earlierKey]);
  await expectWhole(fixture, remote, address);
});

test("a process that was suspended while it wrote leaves nothing of an upload that was cancelled meanwhile", async () => {
  const { fixture, remote } = await openFixture();
  await using _ = fixture;
  const { pushes, blobs } = fixture.domain;
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const suspended = pushesWith(
    fixture,
    failingAt(blobs, 85, async () => {
      reached.resolve();
      await gate.promise;
    }),
  );
  const address = await open(pushes, bytes);
  const first = suspended.receiveUpload(address, 0, chunksOf(Buffer.alloc(bytes.length, 1)), owner);
  await reached.promise;
  fixture.clock.advance(31 * secondMs);
  const { receivedBytes = -1 } = (await pushes.findUpload(address, owner)) ?? {};
  // The whole part that was sent is acknowledged.
  expect(receivedBytes).toBe(80 * segmentBytes);
  expect(await pushes.discardUpload(address, owner)).toBe(true);
  await makeSweeper(fixture).sweep();
  gate.resolve();
  expect(await first).toEqual({ outcome: "unknown" });
  await makeSweeper(fixture).sweep();
  expect([remote.objects.size, remote.uploads.size]).toEqual([0, 0]);
});

test("an unfinished upload is removed 24 hours after its last byte, with its parts", async () => {
  const { fixture, remote } = await openFixture();
  await using _ = fixture;
  const address = await open(fixture.domain.pushes, bytes);
  await sendFirst(fixture.domain.pushes, address);
  expect([remote.objects.size, remote.uploads.size]).toEqual([1, 1]);
  fixture.clock.advance(23 * hourMs);
  await makeSweeper(fixture).sweep();
  expect([remote.objects.size, remote.uploads.size]).toEqual([1, 1]);
  fixture.clock.advance(hourMs);
  // What the service cannot delete now is deleted later.
  remote.plan = always("error", "AbortMultipartUpload");
  await makeSweeper(fixture).sweep();
  remote.plan = () => undefined;
  fixture.clock.advance(hourMs);
  await makeSweeper(fixture).sweep();
  expect([remote.objects.size, remote.uploads.size]).toEqual([0, 0]);
  for (const table of ["uploads", "resumable_uploads", "blob_deletions"]) {
    expect(await countRows(fixture.domain.db, table)).toBe(0);
  }
});

test("an upload whose parts the service has removed begins again", async () => {
  const { fixture, remote } = await openFixture();
  await using _ = fixture;
  const { pushes, db } = fixture.domain;
  const address = await open(pushes, bytes);
  await sendFirst(pushes, address);
  remote.uploads.clear();
  await expect(sendRest(pushes, address)).rejects.toMatchObject({ code: "unavailable" });
  fixture.clock.advance(31 * secondMs);
  expect(await sendRest(pushes, address)).toEqual({ outcome: "unknown" });
  expect(await countRows(db, "resumable_uploads")).toBe(0);
});
