import { Readable } from "node:stream";
import { clockSpreadMs, hourMs, secondMs } from "../../base/clock.ts";
import { AppError, invalidFields, unavailable } from "../../base/errors.ts";
import { BlobMissingError, type BlobWriter } from "../../blobs/blob-store.ts";
import { keyBytes, keyedHash } from "../../crypto/sodium.ts";
import {
  type ByteRange,
  openStream,
  type PartedStream,
  plaintextLength,
  SealBrokenError,
  sealedLength,
  sealedLengthBefore,
  sealPart,
  segmentBytes,
} from "../../crypto/stream-seal.ts";
import type { Actor } from "../actor.ts";
import type { SizedFile } from "../push.ts";
import {
  type FileDetails,
  fileContentContext,
  openUploadDetails,
  sealFileDetails,
  sealUploadDetails,
} from "../seals.ts";
import type { ResumableUpload } from "../store/resumable-uploads.ts";
import { rowSecrets } from "../store/tables.ts";
import {
  assertMayUpload,
  blobKeyBytes,
  cleanDetails,
  createByteMeter,
  filesTooLarge,
  storing,
  type UploadDeps,
  type UploadedFile,
  unusableFiles,
} from "./received-files.ts";

const addressBytes = 32;
const digestBytes = 32;
const addressShape = /^[A-Za-z0-9_-]{43}$/;

/** An upload is removed when nothing has arrived for this long. */
const uploadMs = 24 * hourMs;
/** A run is extended while bytes pass, so this is longer than the slowest sender may pause. */
const runMs = 30 * secondMs;
const extendEveryMs = 5 * secondMs;
/** A sender may have this many times the files and bytes of one push in uploads that no push has taken yet. */
const pushesAtOnce = 3;

export type ReceiveOutcome =
  | { readonly outcome: "received"; readonly receivedBytes: number; readonly expiresAt: number }
  /** Another request is sending to this upload. */
  | { readonly outcome: "busy"; readonly retryAfterSeconds: number }
  | { readonly outcome: "other_offset"; readonly receivedBytes: number }
  | { readonly outcome: "unknown" };

/** The address contains no key: the file's key is stored for it, sealed under the address and a master key together. */
function digestOf({ vault }: UploadDeps, address: string): Buffer {
  return keyedHash(vault.indexKey("resumable uploads"), digestBytes, "digest", address);
}

const rowOf = (upload: Pick<ResumableUpload, "fileId" | "ownerId">) => ({ id: upload.fileId, ownerId: upload.ownerId });

async function findUpload(deps: UploadDeps, address: string, actor: Actor): Promise<ResumableUpload | undefined> {
  if (!addressShape.test(address)) return undefined;
  const found = await deps.store.resumableUploads.find(digestOf(deps, address), deps.clock.now());
  return found?.ownerId === (actor.user?.id ?? null) ? found : undefined;
}

function openKey({ vault }: UploadDeps, upload: ResumableUpload, address: string): Buffer | undefined {
  return vault.keyring.openJointly(rowSecrets.seals.resumableUpload, rowOf(upload), [address], upload.keySealed);
}

/**
 * For a push: the file of a complete upload, readable from now on. The upload stays until a push with the file is written.
 * @returns undefined: there is no such upload of this actor. @throws AppError invalid_fields when it is not complete.
 */
export async function findUploadedFile(
  deps: UploadDeps,
  address: string,
  actor: Actor,
): Promise<UploadedFile | undefined> {
  const upload = await findUpload(deps, address, actor);
  const key = upload && openKey(deps, upload, address);
  if (upload === undefined || key === undefined) return undefined;
  const { fileId: id, blobKey, sizeBytes, receivedBytes, ownerId, detailsSealed } = upload;
  if (receivedBytes < sizeBytes || upload.run !== 0) throw invalidFields({ files: [unusableFiles.incomplete] });
  const { keyring } = deps.vault;
  const details = openUploadDetails({ id, detailsSealed, ownerId, key });
  if (details === undefined) throw new Error(`The details of upload ${id} do not open.`);
  try {
    await storing(deps.blobs.growing.finish(blobKey));
    await storing(verifyEnds(deps, { blobKey, fileId: id, sizeBytes, key }));
  } catch (error) {
    if (!(error instanceof BlobMissingError || error instanceof SealBrokenError)) throw error;
    // The store has lost the file. The offset of the upload is answered with 404 from now on, so the sender sends it again.
    await deps.store.resumableUploads.discard(upload.digest);
    return undefined;
  }
  return {
    id,
    blobKey,
    sizeBytes,
    key,
    detailsSealed: sealFileDetails(keyring, { id, ownerId, key }, details, deps.random),
  };
}

/**
 * What a retrieval verifies before it counts a view, and that the file is whole: a push that could never be opened must not be
 * acknowledged. Not every byte, because anybody who can send a form could have gigabytes read again with each attempt.
 * @throws SealBrokenError, BlobMissingError.
 */
async function verifyEnds({ blobs }: UploadDeps, { blobKey, ...file }: OpenedFile): Promise<void> {
  const { key, context, plaintextBytes } = streamOf(file);
  const read = (part: ByteRange) => blobs.read(blobKey, part);
  const verify = async (range: ByteRange) => {
    const opened = openStream(key, context, { plaintextBytes, range, read });
    while ((await opened.next()).done !== true);
  };
  const first = { start: 0, end: Math.min(segmentBytes, plaintextBytes) - 1 };
  const last = { start: plaintextBytes - 1, end: plaintextBytes - 1 };
  await Promise.all(plaintextBytes > segmentBytes ? [verify(first), verify(last)] : [verify(first)]);
}

function openings(deps: UploadDeps) {
  const { clock, config } = deps;
  return {
    /** What an upload that is being received keeps in memory, at most. */
    uploadBufferBytes: deps.blobs.growing.bufferBytes,

    /**
     * Begins an upload. @returns its address, of which the server keeps only a digest.
     * @throws AppError not_authenticated, invalid_fields, too_large, too_many_requests, unavailable.
     */
    async openUpload(file: SizedFile, actor: Actor): Promise<{ readonly address: string; readonly expiresAt: number }> {
      assertMayUpload(config, actor);
      const { pushBytesMax, maxFileUploads } = config.files;
      const { sizeBytes } = file;
      if (sizeBytes > pushBytesMax) throw filesTooLarge(config);
      await deps.capacity.assertRoomForFile(actor, 0);
      const address = deps.random.bytes(addressBytes).toString("base64url");
      const now = clock.now();
      const row = {
        digest: digestOf(deps, address),
        ...newFile(deps, address, { id: await deps.ids.next(), ownerId: actor.user?.id ?? null }, file),
        keyId: await deps.ids.next(),
        client: actor.user === null ? actor.client : "",
        sizeBytes,
        receivedBytes: 0,
        expiresAt: now + uploadMs,
      };
      const { key, ...stored } = row;
      const bounds = { countMax: pushesAtOnce * maxFileUploads, bytesMax: pushesAtOnce * pushBytesMax };
      const outcome = await deps.store.resumableUploads.add(stored, bounds, now);
      if (outcome === "sender_full") {
        throw new AppError("too_many_requests", "Too many files are being sent. Finish or cancel some first.", {
          retryAfterSeconds: hourMs / secondMs,
        });
      }
      if (outcome === "server_full") {
        // So long that the script does not wait: it sends the file with the form.
        throw unavailable("The server is receiving too many files. Try again later.", hourMs / secondMs);
      }
      // No request follows that would send its bytes.
      if (sizeBytes === 0) {
        try {
          await storing(writeSealed(deps, { ...stored, key }, Readable.from([])));
        } catch (error) {
          // Nobody learns its address, and each attempt would use up a part of what the sender may hold.
          await deps.store.resumableUploads.discard(row.digest);
          throw error;
        }
      }
      return { address, expiresAt: row.expiresAt };
    },
  };
}

function transfers(deps: UploadDeps) {
  const { clock } = deps;
  const uploads = deps.store.resumableUploads;
  return {
    /** @returns undefined: there is no such upload of this actor. */
    async findUpload(address: string, actor: Actor) {
      const upload = await findUpload(deps, address, actor);
      if (upload === undefined) return undefined;
      const { sizeBytes, receivedBytes, expiresAt } = upload;
      return { sizeBytes, receivedBytes, expiresAt };
    },

    /**
     * Receives the bytes of an upload from `offset` on. Whole segments are kept even if the content breaks off.
     * @throws AppError bytes_used_up, unavailable, invalid_request (more bytes than announced); what `content` throws.
     */
    async receiveUpload(
      address: string,
      offset: number,
      content: AsyncIterable<Uint8Array>,
      actor: Actor,
    ): Promise<ReceiveOutcome> {
      const found = await findUpload(deps, address, actor);
      if (found === undefined) return { outcome: "unknown" };
      const now = clock.now();
      const { receivedBytes, expiresAt } = found;
      // A time later than a run begun now would get is from before the clock was set back.
      if (found.run !== 0 && found.runUntil > now && found.runUntil <= now + runMs + clockSpreadMs) {
        return { outcome: "busy", retryAfterSeconds: Math.ceil((found.runUntil - now) / secondMs) };
      }
      if (offset !== receivedBytes) return { outcome: "other_offset", receivedBytes };
      if (receivedBytes === found.sizeBytes) return { outcome: "received", receivedBytes, expiresAt };
      const run = 1 + deps.random.bytes(6).readUIntBE(0, 6);
      if (!(await uploads.beginRun(found, run, now + runMs))) return { outcome: "busy", retryAfterSeconds: 1 };
      return await new UploadRun(deps, { found, address, run }, actor).receive(content);
    },

    /** @returns false: there is no such upload of this actor. */
    async discardUpload(address: string, actor: Actor): Promise<boolean> {
      const upload = await findUpload(deps, address, actor);
      return upload !== undefined && (await uploads.discard(upload.digest));
    },
  };
}

export function resumableUploadOperations(deps: UploadDeps) {
  return { ...openings(deps), ...transfers(deps) };
}

/** A new key and blob for a file, with its name and type sealed under the key. */
function newFile(
  { vault, random }: UploadDeps,
  address: string,
  { id, ownerId }: { readonly id: number; readonly ownerId: number | null },
  details: FileDetails,
) {
  const key = Buffer.from(random.bytes(keyBytes));
  const { keyring } = vault;
  return {
    key,
    fileId: id,
    ownerId,
    blobKey: random.bytes(blobKeyBytes).toString("hex"),
    detailsSealed: sealUploadDetails({ id, ownerId, key }, cleanDetails(details), random),
    keySealed: keyring.sealJointly(rowSecrets.seals.resumableUpload, { id, ownerId }, [address], key),
  };
}

/** Writes the first bytes of a file to its new blob. */
async function writeSealed(
  deps: UploadDeps,
  { blobKey, ...file }: OpenedFile,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const writer = await deps.blobs.growing.append(blobKey, 0, sealedLength(file.sizeBytes));
  try {
    for await (const chunk of sealPart(streamOf(file), 0, content)) await writer.write(chunk);
    await writer.sync();
  } finally {
    await writer.close();
  }
}

type OpenedFile = Pick<ResumableUpload, "blobKey" | "fileId" | "sizeBytes"> & { readonly key: Buffer };

function streamOf({ key, fileId, sizeBytes }: Omit<OpenedFile, "blobKey">): PartedStream {
  return { key, context: fileContentContext(fileId), plaintextBytes: sizeBytes };
}

interface BegunRun {
  readonly found: ResumableUpload;
  readonly address: string;
  readonly run: number;
}

class UploadRun {
  readonly #deps: UploadDeps;
  /** As it was when the run began. */
  readonly #found: ResumableUpload;
  readonly #address: string;
  readonly #run: number;
  readonly #actor: Actor;
  #extendedAt: number;

  constructor(deps: UploadDeps, { found, address, run }: BegunRun, actor: Actor) {
    this.#deps = deps;
    this.#found = found;
    this.#address = address;
    this.#run = run;
    this.#actor = actor;
    this.#extendedAt = deps.clock.now();
  }

  async receive(content: AsyncIterable<Uint8Array>): Promise<ReceiveOutcome> {
    const { sizeBytes, receivedBytes } = this.#found;
    const incoming = receivePart(this.#deps, this.#actor, content, sizeBytes - receivedBytes);
    const outcome = await this.#receive(incoming.bytes).catch((error) => this.#fail(error));
    if (outcome.outcome === "received" && incoming.failure !== undefined) throw incoming.failure;
    return outcome;
  }

  async #receive(incoming: AsyncIterable<Uint8Array>): Promise<ReceiveOutcome> {
    const file = this.#found.run === 0 ? this.#continued() : await storing(this.#resealed());
    if (file === undefined) return await this.#ended();
    const received = await this.#write(file, incoming);
    const expiresAt = received === undefined ? undefined : await this.#acknowledge(file, received, false);
    if (received === undefined || expiresAt === undefined) return await this.#ended();
    return { outcome: "received", receivedBytes: received, expiresAt };
  }

  /** The upload was removed, or its key is missing; or another request writes to it now, and the sender can continue. */
  async #ended(): Promise<ReceiveOutcome> {
    const upload = await findUpload(this.#deps, this.#address, this.#actor);
    if (upload === undefined || upload.run === this.#run) return { outcome: "unknown" };
    return { outcome: "other_offset", receivedBytes: upload.receivedBytes };
  }

  /** Ends the run, so that the next request need not wait for its time. */
  async #fail(error: unknown): Promise<ReceiveOutcome> {
    const { resumableUploads } = this.#deps.store;
    const { digest } = this.#found;
    if (error instanceof BlobMissingError || error instanceof SealBrokenError) {
      // The store has lost acknowledged bytes: the sender has to begin again. Or another run has replaced this one's blob.
      await resumableUploads.discard(digest, this.#run);
      return await this.#ended();
    }
    try {
      // The store refuses a writer that another run has replaced.
      if (!(await resumableUploads.release(digest, this.#run))) return await this.#ended();
    } catch (failure) {
      // While the database does not answer, only its time ends the run.
      if (!(failure instanceof AppError && failure.code === "unavailable")) throw failure;
    }
    throw error;
  }

  /** @returns the acknowledged bytes; undefined: the run has ended. */
  async #write(file: OpenedFile, content: AsyncIterable<Uint8Array>): Promise<number | undefined> {
    const { clock, blobs } = this.#deps;
    const found = this.#found;
    const { growing } = blobs;
    const { bytes: syncBytes, ms: syncMs } = growing.syncEvery;
    const passed = (bytes: number) => Math.floor(bytes / syncBytes);
    let writer: BlobWriter | undefined;
    let sealedBytes = sealedLengthBefore(found.receivedBytes);
    let acknowledged = { sealedBytes, at: clock.now() };
    try {
      const passing = this.#extending(file.blobKey, content);
      for await (const chunk of sealPart(streamOf(file), found.receivedBytes, passing)) {
        writer ??= await storing(growing.append(file.blobKey, sealedBytes, sealedLength(file.sizeBytes)));
        await storing(writer.write(chunk));
        sealedBytes += chunk.length;
        const isDue = passed(sealedBytes) > passed(acknowledged.sealedBytes);
        if (!isDue && clock.now() - acknowledged.at < syncMs) continue;
        const received = plaintextLength(sealedBytes, found.sizeBytes);
        // The last byte is acknowledged with the end of the run: no push takes an upload that somebody may be writing to.
        if (received === found.sizeBytes) continue;
        await storing(writer.sync());
        acknowledged = { sealedBytes, at: clock.now() };
        if ((await this.#acknowledge(file, received, true)) === undefined) return undefined;
      }
      if (writer !== undefined) await storing(writer.sync());
    } finally {
      await writer?.close();
    }
    return plaintextLength(sealedBytes, found.sizeBytes);
  }

  /** @returns when the upload expires; undefined: it was removed, or another request writes to it now. */
  async #acknowledge({ blobKey }: OpenedFile, receivedBytes: number, goesOn: boolean): Promise<number | undefined> {
    const found = this.#found;
    const now = this.#deps.clock.now();
    const progress = {
      blobKey,
      receivedBytes,
      anonymousBytes: this.#actor.user === null ? receivedBytes : 0,
      // Only bytes prolong an upload, not requests.
      expiresAt: receivedBytes > found.receivedBytes ? now + uploadMs : found.expiresAt,
      runUntil: goesOn ? now + runMs : null,
    };
    const recorded = await this.#deps.store.resumableUploads.progress(found.digest, this.#run, progress, now);
    this.#extendedAt = now;
    return recorded ? progress.expiresAt : undefined;
  }

  /** Extends the run while bytes pass: a whole segment may take longer than a run. Ends early when the run is no longer the latest. */
  async *#extending(blobKey: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { clock, store } = this.#deps;
    const { digest } = this.#found;
    for await (const chunk of content) {
      const now = clock.now();
      if (Math.abs(now - this.#extendedAt) >= extendEveryMs) {
        if (!(await store.resumableUploads.extend(digest, this.#run, blobKey, { runUntil: now + runMs, now }))) return;
        this.#extendedAt = now;
      }
      yield chunk;
    }
  }

  #continued(): OpenedFile | undefined {
    const key = openKey(this.#deps, this.#found, this.#address);
    return key && { ...this.#found, key };
  }

  /**
   * After a run that failed, or did not end: its process was killed, or is suspended and may go on. Bytes may be sealed and not
   * acknowledged, so nothing more may be sealed under its key, and nothing written to its blob. The acknowledged bytes are
   * sealed again, under a new key in a new blob.
   */
  async #resealed(): Promise<OpenedFile | undefined> {
    const { store, clock, capacity } = this.#deps;
    const found = this.#found;
    const old = this.#continued();
    const { fileId, ownerId, sizeBytes, receivedBytes } = found;
    const details = old && openUploadDetails({ ...found, id: fileId, key: old.key });
    if (old === undefined || details === undefined) return undefined;
    const next = newFile(this.#deps, this.#address, { id: fileId, ownerId }, details);
    await capacity.assertRoomForFile(this.#actor, receivedBytes);
    // After a crash the sweeper removes it as an orphan.
    await store.addUpload(next.blobKey, clock.now());
    const file = { ...next, sizeBytes };
    try {
      if (receivedBytes > 0) await this.#copy(old, file);
    } catch (error) {
      await store.abandonUploads([file.blobKey]);
      throw error;
    }
    const now = clock.now();
    const { resumableUploads } = store;
    if (await resumableUploads.replaceBlob(found, this.#run, { ...next, runUntil: now + runMs }, now)) return file;
    await store.abandonUploads([file.blobKey]);
    return undefined;
  }

  /** Seals the acknowledged bytes again. They are fewer if the run is no longer the latest. */
  async #copy(old: OpenedFile, file: OpenedFile): Promise<void> {
    const { key, context, plaintextBytes } = streamOf(old);
    const range = { start: 0, end: this.#found.receivedBytes - 1 };
    const read = (part: ByteRange) => this.#deps.blobs.growing.readUnfinished(old.blobKey, part);
    const content = openStream(key, context, { plaintextBytes, range, read });
    await writeSealed(this.#deps, file, this.#extending(file.blobKey, content));
  }
}

/** Bytes as they arrive. A failure ends them: what has arrived is kept, and `failure` is thrown afterwards. */
function receivePart(deps: UploadDeps, actor: Actor, content: AsyncIterable<Uint8Array>, bytesMax: number) {
  const meter = createByteMeter(deps, deps.byteBudgets.begin(actor), actor);
  const part: { readonly bytes: AsyncIterable<Uint8Array>; failure: AppError | undefined } = {
    bytes: receive(),
    failure: undefined,
  };

  async function* receive(): AsyncGenerator<Uint8Array> {
    let left = bytesMax;
    try {
      for await (const chunk of content) {
        left -= chunk.length;
        if (left < 0) throw new AppError("invalid_request", "The upload has more bytes than were announced.");
        await meter.take(chunk.length);
        yield chunk;
      }
      await meter.end();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      part.failure = error;
    }
  }

  return part;
}
