import { AppError, invalidFields, unavailable } from "../../base/errors.ts";
import { BlobStoreError } from "../../blobs/blob-store.ts";
import { keyBytes } from "../../crypto/sodium.ts";
import { sealStream } from "../../crypto/stream-seal.ts";
import type { PushDeps } from "../deps.ts";
import type { Actor, IncomingFile, Upload } from "../push.ts";
import { fileContentContext, type KeyedFile, sealFileDetails } from "../seals.ts";
import type { FileRow } from "../store/tables.ts";
import type { SpentBytes } from "./byte-budgets.ts";

const blobKeyBytes = 16;
/** Shorter than the sweeper's orphan age, with room for a stall. */
const renewEveryMs = 60_000;

/** Charging each chunk would cost one statement per chunk on PostgreSQL. The first chunk of a file is charged at once. */
const chargedBytes = 1024 ** 2;

const filenameCharactersMax = 255;
const contentTypeCharactersMax = 255;

type UploadDeps = Pick<
  PushDeps,
  "config" | "clock" | "random" | "store" | "ids" | "blobs" | "vault" | "capacity" | "byteBudgets"
>;

/** A stored file. Its key is sealed under the key of its push. */
type UploadedFile = Omit<FileRow, "keySealed"> & KeyedFile;

/** Files that are sealed and stored while the request for their push is still being received. */
export class PendingUpload implements Upload {
  /** What the push has used of its creator's byte budget. */
  readonly spent: SpentBytes;
  readonly #deps: UploadDeps;
  readonly #actor: Actor;
  readonly #sent: { readonly blobKey: string; bytes: number }[] = [];
  readonly #files: UploadedFile[] = [];
  #lastRenewal: number;
  #adding = false;
  #failed = false;
  #closed = false;

  constructor(deps: UploadDeps, actor: Actor) {
    this.#deps = deps;
    this.#actor = actor;
    this.spent = deps.byteBudgets.begin(actor);
    this.#lastRenewal = deps.clock.now();
  }

  get fileCount(): number {
    return this.#files.length;
  }

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
    if (this.#files.length >= maxFileUploads) throw invalidFields({ files: [`can't be more than ${maxFileUploads}.`] });
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

  /** The blobs now belong to the push, and `abandon` does nothing. */
  handOver(): void {
    this.#closed = true;
    this.spent.keep();
  }

  /** Also aborts a file that is still being sent. */
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
      if (!(error instanceof AppError) || error.cause instanceof BlobStoreError) await this.#renew();
      throw error;
    }
    try {
      await this.#renew();
    } catch (error) {
      // Swept or abandoned during the write, so nothing else would delete the blob.
      await storing(blobs.delete(sent.blobKey)).catch(async (failure: unknown) => {
        await store.addUpload(sent.blobKey, clock.now());
        throw failure;
      });
      throw error;
    }
    const details = { filename: cleanFilename(file.filename), contentType: cleanContentType(file.contentType) };
    const detailsSealed = sealFileDetails(vault.keyring, { id, ownerId: this.ownerId, key }, details, random);
    return { id, blobKey: sent.blobKey, sizeBytes: sent.bytes, detailsSealed, key };
  }

  #sentBytes(): number {
    return this.#sent.reduce((sum, file) => sum + file.bytes, 0);
  }

  /** Counts and limits the bytes, and renews the upload's record while they arrive. */
  async *#metered(content: AsyncIterable<Uint8Array>, sent: { bytes: number }): AsyncGenerator<Uint8Array> {
    const { config, capacity, clock } = this.#deps;
    let uncharged = 0;
    let due = 0;
    for await (const chunk of content) {
      sent.bytes += chunk.length;
      if (this.#sentBytes() > config.files.pushBytesMax) {
        throw new AppError("too_large", `The files of one push may have ${config.files.pushBytesMax} bytes together.`);
      }
      uncharged += chunk.length;
      if (uncharged > due) {
        await this.spent.charge(uncharged, clock.now());
        uncharged = 0;
        due = chargedBytes;
      }
      await capacity.assertRoomForFile(this.#actor, chunk.length);
      if (this.#closed) throw uploadExpired();
      if (Math.abs(clock.now() - this.#lastRenewal) >= renewEveryMs) await this.#renew();
      yield chunk;
    }
    await this.spent.charge(uncharged, clock.now());
  }

  /** @throws AppError unavailable when the upload is no longer on record. */
  async #renew(): Promise<void> {
    const now = this.#deps.clock.now();
    this.#lastRenewal = now;
    const anonymous = this.#actor.user === null;
    const records = this.#sent.map(({ blobKey, bytes }) => ({ blobKey, anonymousBytes: anonymous ? bytes : 0 }));
    if (!(await this.#deps.store.renewUploads(records, now))) throw uploadExpired();
  }
}

/** @returns the upload that `beginUpload` returned to this actor. @throws Error for another user's upload or a failed one. */
export function ownUpload(upload: Upload | undefined, actor: Actor): PendingUpload | undefined {
  if (upload === undefined) return undefined;
  if (!(upload instanceof PendingUpload)) throw new Error("The upload was not begun here.");
  if (upload.ownerId !== (actor.user?.id ?? null)) throw new Error("Another user began the upload.");
  if (upload.failed) throw new Error("A file of the upload failed.");
  return upload;
}

/** The upload was abandoned, or stalled so long that the sweeper removed it as an orphan. */
export function uploadExpired(): AppError {
  return unavailable("The upload took too long and was given up. Send it again.", 1);
}

const storageStates: ReadonlySet<string> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
  "EROFS",
  "EACCES",
  "EPERM",
  "EIO",
  // A network mount whose server is away.
  "ESTALE",
  "ENOTCONN",
  "EHOSTDOWN",
  "ETIMEDOUT",
  // Too many open files in this process or on the machine.
  "EMFILE",
  "ENFILE",
]);

/** A full or read-only disk and an unreachable object store are unavailability, not a bug. */
async function storing<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
    if (storageStates.has(code) || error instanceof BlobStoreError) {
      throw unavailable("The storage cannot take files now.", 60, error);
    }
    throw error;
  }
}

/** Only the last part of a path, without control and direction-changing characters; never empty. */
export function cleanFilename(filename: string): string {
  const last = filename.toWellFormed().split(/[/\\]/).at(-1) ?? "";
  const clean = last.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, "").trim();
  const cut = [...clean].slice(0, filenameCharactersMax).join("");
  return cut === "" || cut === "." || cut === ".." ? "file" : cut;
}

const contentTypeShape = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

function cleanContentType(contentType: string): string {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type.length <= contentTypeCharactersMax && contentTypeShape.test(type) ? type : "application/octet-stream";
}
