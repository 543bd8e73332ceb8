import { AppError, invalidFields, unavailable } from "../../base/errors.ts";
import { BlobStoreError } from "../../blobs/blob-store.ts";
import type { Config } from "../../config/config.ts";
import { keyBytes } from "../../crypto/sodium.ts";
import { sealStream } from "../../crypto/stream-seal.ts";
import type { Actor } from "../actor.ts";
import type { PushDeps } from "../deps.ts";
import type { IncomingFile, Upload } from "../push.ts";
import { type FileDetails, fileContentContext, type KeyedFile, sealFileDetails } from "../seals.ts";
import type { FileRow } from "../store/tables.ts";
import type { SpentBytes } from "./byte-budgets.ts";
import { findUploadedFile } from "./resumable-upload.ts";

export const blobKeyBytes = 16;
/** Shorter than the sweeper's orphan age, with room for a stall. */
const renewEveryMs = 60_000;

/** Charging each chunk would cost one statement per chunk on PostgreSQL. The first chunk of a file is charged at once. */
const chargedBytes = 1024 ** 2;

const filenameCharactersMax = 255;
const contentTypeCharactersMax = 255;

export type UploadDeps = Pick<
  PushDeps,
  "config" | "clock" | "random" | "store" | "ids" | "blobs" | "vault" | "capacity" | "byteBudgets"
>;

/** A stored file that no push has yet. Its key is sealed under the key of its push, which also gives it a position. */
export type UploadedFile = Omit<FileRow & KeyedFile, "keySealed" | "position">;

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
    const detailsSealed = sealFileDetails(
      vault.keyring,
      { id, ownerId: this.ownerId, key },
      cleanDetails(file),
      random,
    );
    return { id, blobKey: sent.blobKey, sizeBytes: sent.bytes, detailsSealed, key };
  }

  /** Counts and limits the bytes, and renews the upload's record while they arrive. */
  async *#metered(content: AsyncIterable<Uint8Array>, sent: { bytes: number }): AsyncGenerator<Uint8Array> {
    const { config, clock } = this.#deps;
    const meter = new ByteMeter(this.#deps, this.spent, this.#actor);
    for await (const chunk of content) {
      sent.bytes += chunk.length;
      if (this.storedBytes + sent.bytes > config.files.pushBytesMax) throw filesTooLarge(config);
      await meter.take(chunk.length);
      if (this.#closed) throw uploadExpired();
      if (Math.abs(clock.now() - this.#lastRenewal) >= renewEveryMs) await this.#renew();
      yield chunk;
    }
    await meter.end();
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

/** Charges the bytes of a file to its sender's budget while they arrive, and checks that there is space for them. */
export class ByteMeter {
  readonly #deps: Pick<PushDeps, "clock" | "capacity">;
  readonly #spent: SpentBytes;
  readonly #actor: Actor;
  #uncharged = 0;
  #due = 0;

  constructor(deps: Pick<PushDeps, "clock" | "capacity">, spent: SpentBytes, actor: Actor) {
    this.#deps = deps;
    this.#spent = spent;
    this.#actor = actor;
  }

  /** @throws AppError bytes_used_up, unavailable. */
  async take(bytes: number): Promise<void> {
    this.#uncharged += bytes;
    if (this.#uncharged > this.#due) {
      await this.end();
      this.#due = chargedBytes;
    }
    await this.#deps.capacity.assertRoomForFile(this.#actor, bytes);
  }

  /** Charges the rest. */
  async end(): Promise<void> {
    const uncharged = this.#uncharged;
    this.#uncharged = 0;
    await this.#spent.charge(uncharged, this.#deps.clock.now());
  }
}

export function filesTooLarge({ files }: Pick<Config, "files">): AppError {
  return new AppError("too_large", `The files of one push may have ${files.pushBytesMax} bytes together.`);
}

/** @throws AppError not_authenticated when the actor may not create pushes, or not with files. */
export function assertMayCreate(config: Config, withFiles: boolean, actor: Actor): void {
  if (actor.user !== null) return;
  if (!config.allowAnonymous) throw new AppError("not_authenticated", "This server asks for an API token.");
  if (withFiles && !config.files.allowAnonymous) {
    throw new AppError("not_authenticated", "File pushes need an API token or a signed-in user.");
  }
}

/** @throws AppError not_authenticated, invalid_fields on `kind` (file pushes disabled). */
export function assertMayUpload(config: Config, actor: Actor): void {
  assertMayCreate(config, true, actor);
  if (!config.kinds.file.enabled) throw invalidFields({ kind: ["file pushes are switched off on this server."] });
}

/** @returns the upload that `beginUpload` returned to this actor. @throws Error for another user's upload or a failed one. */
export function ownUpload(upload: Upload | undefined, actor: Actor): PendingUpload | undefined {
  if (upload === undefined) return undefined;
  if (!(upload instanceof PendingUpload)) throw new Error("The upload was not begun here.");
  if (upload.ownerId !== (actor.user?.id ?? null)) throw new Error("Another user began the upload.");
  if (upload.failed) throw new Error("A file of the upload failed.");
  return upload;
}

/** @throws AppError invalid_fields when an upload that the request names does not exist. */
export function assertComplete(upload: PendingUpload | undefined): void {
  if (upload === undefined || upload.missing === 0) return;
  throw invalidFields({ files: ["An upload does not exist, or its file is already part of a push."] });
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
  // The folder is gone, for example unmounted. A blob that is missing is a BlobMissingError.
  "ENOENT",
  // Too many open files in this process or on the machine.
  "EMFILE",
  "ENFILE",
]);

/** A full or read-only disk and an unreachable object store are unavailability, not a bug. */
export async function storing<T>(write: Promise<T>): Promise<T> {
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

/** As they are stored and shown. */
export function cleanDetails({ filename, contentType }: FileDetails): FileDetails {
  return { filename: cleanFilename(filename), contentType: cleanContentType(contentType) };
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
