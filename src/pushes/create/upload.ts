import { ageBeginningBytes, beginsAsAgeFile } from "@sealpush/age/age-header";
import { AppError, type FieldProblems, invalidFields, unavailable } from "../../base/errors.ts";
import { BlobStoreError } from "../../blobs/blob-store.ts";
import { keyBytes } from "../../crypto/sodium.ts";
import { sealStream } from "../../crypto/stream-seal.ts";
import type { Actor } from "../actor.ts";
import { fileRefusal, readStoredFile } from "../claim/stored-files.ts";
import type { CreatePush, IncomingFile, Upload } from "../push.ts";
import { fileContentContext, sealFileDetails } from "../seals.ts";
import type { SpentBytes } from "./byte-budgets.ts";
import {
  blobKeyBytes,
  cleanDetails,
  createByteMeter,
  filesTooLarge,
  storing,
  type UploadDeps,
  type UploadedFile,
  unusableFiles,
} from "./received-files.ts";
import { findUploadedFile } from "./resumable-upload.ts";

/** Shorter than the sweeper's orphan age, with room for a stall. */
const renewEveryMs = 60_000;

interface SentFile {
  readonly blobKey: string;
  bytes: number;
}

/** Files that are sealed and stored while the request for their push is still being received. */
export class PendingUpload implements Upload {
  /** The bytes of the push, with those of its payload. */
  readonly spent: SpentBytes;
  readonly #deps: UploadDeps;
  readonly #actor: Actor;
  readonly #sent: SentFile[] = [];
  readonly #files: UploadedFile[] = [];
  #lastRenewal: number;
  #adding = false;
  #failed = false;
  #closed = false;
  #missing = 0;

  constructor(deps: UploadDeps, actor: Actor) {
    this.#deps = deps;
    this.#actor = actor;
    this.spent = deps.byteBudgets.begin(actor);
    this.#lastRenewal = deps.clock.now();
  }

  get fileCount(): number {
    return this.#files.length + this.#missing;
  }

  /** Uploads that do not exist, maybe because an earlier request with the same idempotency key has created the push. */
  get missing(): number {
    return this.#missing;
  }

  /** In the order of the form. */
  get files(): readonly UploadedFile[] {
    return this.#files;
  }

  get storedBytes(): number {
    return this.#files.reduce((sum, file) => sum + file.sizeBytes, 0);
  }

  get ownerId(): number | null {
    return this.#actor.user?.id ?? null;
  }

  /** A file failed, so a push with this upload would lack a file that its sender expects. */
  get failed(): boolean {
    return this.#failed;
  }

  async addFile(file: IncomingFile): Promise<void> {
    if (this.#closed || this.#adding || this.#failed)
      throw new Error("An upload takes one file after another, until it ends.");
    const { maxFileUploads } = this.#deps.config.files;
    if (this.fileCount >= maxFileUploads) throw invalidFields({ files: [`can't be more than ${maxFileUploads}.`] });
    this.#adding = true;
    try {
      this.#files.push(await this.#storeFile(file));
    } catch (error) {
      this.#failed = true;
      throw error;
    } finally {
      this.#adding = false;
    }
  }

  async addUploaded(address: string): Promise<void> {
    const { config } = this.#deps;
    const { maxFileUploads, pushBytesMax } = config.files;
    if (this.fileCount >= maxFileUploads) throw invalidFields({ files: [`can't be more than ${maxFileUploads}.`] });
    const file = await findUploadedFile(this.#deps, address, this.#actor);
    if (file === undefined) this.#missing += 1;
    if (file === undefined || this.#files.some(({ id }) => id === file.id)) return;
    if (this.storedBytes + file.sizeBytes > pushBytesMax) throw filesTooLarge(config);
    this.#files.push(file);
  }

  /** The blobs now belong to the push, and `abandon` does nothing. */
  handOver(): void {
    this.#closed = true;
    this.spent.keep();
  }

  /** A file that is still being sent is aborted too. */
  async abandon(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.spent.refund();
    if (this.#sent.length > 0) await this.#deps.store.abandonUploads(this.#sent.map((file) => file.blobKey));
  }

  async #storeFile(file: IncomingFile): Promise<UploadedFile> {
    const { store, ids, blobs, random, vault, capacity, clock } = this.#deps;
    await capacity.assertRoomForFile(this.#actor, 0);
    const id = await ids.next();
    const key = Buffer.from(random.bytes(keyBytes));
    const sent = { blobKey: random.bytes(blobKeyBytes).toString("hex"), bytes: 0 };
    await store.addUpload(sent.blobKey, clock.now());
    this.#sent.push(sent);
    const content = sealStream(key, fileContentContext(id), this.#metered(file.content, sent), random);
    try {
      await storing(blobs.write(sent.blobKey, content));
    } catch (error) {
      // The sweeper may have deleted the unfinished blob. That error is reported then.
      if (!(error instanceof AppError) || error.cause instanceof BlobStoreError) await this.#renew(sent);
      throw error;
    }
    try {
      await this.#renew(sent);
    } catch (error) {
      // Swept or abandoned during the write, so nothing else would delete the blob.
      await storing(blobs.delete(sent.blobKey)).catch(async (failure: unknown) => {
        await store.addUpload(sent.blobKey, clock.now());
        throw failure;
      });
      throw error;
    }
    const detailsSealed = sealFileDetails(
      vault.keyring,
      { id, ownerId: this.ownerId, key },
      cleanDetails(file),
      random,
    );
    return { id, blobKey: sent.blobKey, sizeBytes: sent.bytes, detailsSealed, key };
  }

  /** Counts and limits the bytes, and renews the upload's record while they arrive. */
  async *#metered(content: AsyncIterable<Uint8Array>, sent: SentFile): AsyncGenerator<Uint8Array> {
    const { config, clock } = this.#deps;
    const meter = createByteMeter(this.#deps, this.spent, this.#actor);
    for await (const chunk of content) {
      sent.bytes += chunk.length;
      if (this.storedBytes + sent.bytes > config.files.pushBytesMax) throw filesTooLarge(config);
      await meter.take(chunk.length);
      if (this.#closed) throw uploadExpired();
      if (this.#isRenewalDue(clock.now())) await this.#renew(sent);
      yield chunk;
    }
    await meter.end();
  }

  #isRenewalDue(now: number): boolean {
    return Math.abs(now - this.#lastRenewal) >= renewEveryMs;
  }

  /**
   * Renews the record of the file that is received, and all records of the upload when they are due: all of them after each file
   * would be a number of statements that grows with the square of the files.
   * @throws AppError unavailable when one is no longer on record.
   */
  async #renew(received: SentFile): Promise<void> {
    const now = this.#deps.clock.now();
    const isDue = this.#isRenewalDue(now);
    if (isDue) this.#lastRenewal = now;
    const anonymous = this.#actor.user === null;
    const records = (isDue ? this.#sent : [received]).map(({ blobKey, bytes }) => ({
      blobKey,
      anonymousBytes: anonymous ? bytes : 0,
    }));
    if (!(await this.#deps.store.renewUploads(records, now))) throw uploadExpired();
  }
}

/**
 * @returns the upload that `beginUpload` returned to this actor; for a request without files, an empty one.
 * @throws Error for another user's upload or a failed one.
 */
export function ownUpload(deps: UploadDeps, upload: Upload | undefined, actor: Actor): PendingUpload {
  if (upload === undefined) return new PendingUpload(deps, actor);
  if (!(upload instanceof PendingUpload)) throw new Error("The upload was not begun here.");
  if (upload.ownerId !== (actor.user?.id ?? null)) throw new Error("Another user began the upload.");
  if (upload.failed) throw new Error("A file of the upload failed.");
  return upload;
}

/** @throws AppError invalid_fields when an upload that the request names does not exist. */
export function assertComplete(upload: PendingUpload): void {
  if (upload.missing > 0) throw invalidFields({ files: [unusableFiles.gone] });
}

/** The upload was abandoned, or stalled so long that the sweeper removed it as an orphan. */
export function uploadExpired(): AppError {
  return unavailable("The upload took too long and was given up. Send it again.", 1);
}

/**
 * The files of an end-to-end push must be sealed when they arrive: a sender who forgets it would hand the server what it must
 * not see. They are read again from the store, because a form may name the encryption after its files.
 * @throws AppError unavailable.
 */
export async function findUnsealedFiles(
  { blobs }: UploadDeps,
  { encryption }: Pick<CreatePush, "encryption">,
  upload: PendingUpload,
): Promise<FieldProblems> {
  if (encryption === undefined) return {};
  for (const file of upload.files) {
    if (!(await isAgeFile(blobs, file))) return { files: [unusableFiles.unsealed] };
  }
  return {};
}

/** No push has the file yet, so errors name none. */
const noPushId = 0;

async function isAgeFile(blobs: UploadDeps["blobs"], { key, ...row }: UploadedFile): Promise<boolean> {
  if (row.sizeBytes < ageBeginningBytes) return false;
  const range = { start: 0, end: ageBeginningBytes - 1 };
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of readStoredFile(blobs, { pushId: noPushId, row, key }, range)) chunks.push(chunk);
  } catch (error) {
    throw fileRefusal(error);
  }
  return beginsAsAgeFile(Buffer.concat(chunks).toString("latin1"));
}
