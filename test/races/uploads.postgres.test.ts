import { expect, test } from "vitest";
import { patternBytes } from "../../src/crypto/stream-test-support.ts";
import { makeDataDir, openTestDomain, signedIn, stranger } from "../support/domain.ts";
import { claimFiles, readDownload } from "../support/files.ts";

const owner = signedIn(7);
const segmentBytes = 65_536;
const segments = 12;
const bytes = patternBytes(segments * segmentBytes);

async function* contentFrom(offset: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = offset; at < end; at += 20_000) yield bytes.subarray(at, Math.min(end, at + 20_000));
}

test("processes that share database and folder receive one upload in turns, also all at once", async () => {
  const dataDir = makeDataDir();
  await using first = await openTestDomain({ dataDir });
  await using second = await openTestDomain({ dataDir });
  await using third = await openTestDomain({ dataDir });
  const all = [first, second, third].map(({ domain }) => domain.pushes);
  const [one = first.domain.pushes] = all;
  const file = { filename: "plan.bin", contentType: "text/plain", sizeBytes: bytes.length };
  const { address } = await one.openUpload(file, owner);
  for (let segment = 0; segment < segments; segment += 1) {
    const [start, end] = [segment * segmentBytes, (segment + 1) * segmentBytes];
    const outcomes = await Promise.all(
      all.map(async (pushes) => (await pushes.receiveUpload(address, start, contentFrom(start, end), owner)).outcome),
    );
    expect(outcomes.filter((outcome) => outcome === "received")).toHaveLength(1);
    for (const pushes of all) {
      expect(await pushes.findUpload(address, owner)).toMatchObject({ receivedBytes: end });
    }
  }
  const made = await Promise.allSettled(
    all.map(async (pushes) => {
      const upload = await pushes.beginUpload(owner);
      await upload.addUploaded(address);
      return await pushes.create({ upload }, owner);
    }),
  );
  const [push] = made.filter((each) => each.status === "fulfilled");
  expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  const [found] = await claimFiles(one, push?.value.urlToken ?? "", stranger);
  const download = await second.domain.pushes.openTicket(found?.ticket ?? "", stranger);
  expect(download !== undefined && (await readDownload(download)).equals(bytes)).toBe(true);
});
