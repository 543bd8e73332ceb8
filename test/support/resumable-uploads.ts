import { expect } from "vitest";
import { AppError, unavailable } from "../../src/base/errors.ts";
import type { BlobStore } from "../../src/blobs/blob-store.ts";
import { segmentBytes } from "../../src/crypto/stream-seal.ts";
import type { Actor } from "../../src/pushes/actor.ts";
import { createPushes, type Pushes } from "../../src/pushes/pushes.ts";
import { signedIn, stranger, type TestDomain } from "./domain.ts";
import { readRows } from "./engine-database.ts";
import { claimFiles, readDownload } from "./files.ts";
import { pushDepsOf } from "./push-deps.ts";

export const owner = signedIn(7);
export const broken = new AppError("invalid_request", "The body was cut off.");

export async function* chunksOf(bytes: Uint8Array, failure?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
  if (failure !== undefined) throw failure;
}

export async function open(pushes: Pushes, bytes: Uint8Array, actor: Actor = owner): Promise<string> {
  const file = { filename: "plan.bin", contentType: "text/plain", sizeBytes: bytes.length };
  return (await pushes.openUpload(file, actor)).address;
}

export async function send(pushes: Pushes, bytes: Uint8Array, actor: Actor = owner): Promise<string> {
  const address = await open(pushes, bytes, actor);
  const sent = await pushes.receiveUpload(address, 0, chunksOf(bytes), actor);
  expect(sent).toMatchObject({ outcome: "received", receivedBytes: bytes.length });
  return address;
}

export async function pushOf(pushes: Pushes, addresses: readonly string[], actor: Actor = owner) {
  const upload = await pushes.beginUpload(actor);
  for (const address of addresses) await upload.addUploaded(address);
  return await pushes.create({ upload }, actor);
}

export async function contentOf(pushes: Pushes, urlToken: string): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for (const { ticket } of await claimFiles(pushes, urlToken, stranger)) {
    const download = await pushes.openTicket(ticket, stranger);
    if (download === undefined) throw new Error("The ticket does not open.");
    found.push(await readDownload(download));
  }
  return found;
}

export const blobKeyOf = async ({ domain }: TestDomain) =>
  (await readRows<{ blob_key: string }>(domain.db, "SELECT blob_key FROM resumable_uploads")).map(
    (row) => row.blob_key,
  );

/** The operations with another store of files. */
export function pushesWith(fixture: TestDomain, blobs: BlobStore): Pushes {
  return createPushes(pushDepsOf(fixture, { blobs }));
}

/** A store that waits before it opens a blob for writing. */
export function waitingToOpen(blobs: BlobStore) {
  const { growing } = blobs;
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const append: typeof growing.append = async (...blob) => {
    reached.resolve();
    await gate.promise;
    return await growing.append(...blob);
  };
  return { blobs: { ...blobs, growing: { ...growing, append } }, reached: reached.promise, open: () => gate.resolve() };
}

/** Leaves a run that did not end, as a killed process does, after two acknowledged segments. @returns the address. */
export async function interrupt(fixture: TestDomain, bytes: Uint8Array): Promise<string> {
  const { pushes, store, blobs } = fixture.domain;
  const address = await open(pushes, bytes);
  await pushes.receiveUpload(address, 0, chunksOf(bytes.subarray(0, 2 * segmentBytes)), owner);
  const release = () => Promise.reject(unavailable("The process was killed.", 1));
  const resumableUploads = { ...store.resumableUploads, release };
  const failing = { blobs: failingAt(blobs, 1, noSpace), store: { ...store, resumableUploads } };
  const rest = chunksOf(bytes.subarray(2 * segmentBytes));
  const sending = createPushes(pushDepsOf(fixture, failing)).receiveUpload(address, 2 * segmentBytes, rest, owner);
  await expect(sending).rejects.toMatchObject({ code: "unavailable" });
  return address;
}

export async function noSpace(): Promise<never> {
  throw Object.assign(new Error("No space is left."), { code: "ENOSPC" });
}

/** A store whose writers fail, or wait, before the chunk with this number, counted over all of them. */
export function failingAt(blobs: BlobStore, chunk: number, fail: () => Promise<void>): BlobStore {
  const { growing } = blobs;
  let written = 0;
  return {
    ...blobs,
    growing: {
      ...growing,
      async append(...blob) {
        const writer = await growing.append(...blob);
        return {
          ...writer,
          async write(bytes) {
            written += 1;
            if (written === chunk) await fail();
            await writer.write(bytes);
          },
        };
      },
    },
  };
}
