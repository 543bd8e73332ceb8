import { AppError, invalidFields, unavailable } from "../base/errors.ts";
import { fileKey } from "../crypto/link-key.ts";
import { sealStream } from "../crypto/stream-seal.ts";
import type { PushDeps } from "./deps.ts";
import type { Actor, IncomingFile, Upload } from "./push.ts";
import { sealContexts, sealFileDetails } from "./seals.ts";
import type { FileRow } from "./store.ts";

const dataKeyBytes = 32;
const blobKeyBytes = 16;
/** A live upload renews its record more often than the sweeper's orphan age, with room for a stall. */
const renewEveryMs = 60_000;

const filenameCharactersMax = 255;
const contentTypeCharactersMax = 255;

type UploadDeps = Pick<PushDeps, "config" | "clock" | "random" | "store" | "ids" | "blobs" | "vault" | "capacity">;

/** Files that are sealed and stored already while the push they will belong to is still being sent. */
export class PendingUpload implements Upload {
  /** The push's data key is drawn first, since its files are sealed under keys derived from it. */
  readonly dataKey: Buffer;
  readonly #deps: UploadDeps;
  readonly #actor: Actor;
  readonly #blobKeys: string[] = [];
  readonly #files: FileRow[] = [];
  #lastRenewal: number;
  #bytes = 0;
  #closed = false;

  constructor(deps: UploadDeps, actor: Actor) {
    this.#deps = deps;
    this.#actor = actor;
    this.dataKey = Buffer.from(deps.random.bytes(dataKeyBytes));
    this.#lastRenewal = deps.clock.now();
  }

  get fileCount(): number {
    return this.#files.length;
  }

  get files(): readonly FileRow[] {
    return this.#files;
  }

  get storedBytes(): number {
    return this.#bytes;
  }

  get ownerId(): number | null {
    return this.#actor.user?.id ?? null;
  }

  async addFile(file: IncomingFile): Promise<void> {
    const { config, store, ids, blobs, random, vault, capacity, clock } = this.#deps;
    if (this.#closed) throw new Error("The upload has ended.");
    if (this.#files.length >= config.files.maxFileUploads) {
      throw invalidFields({ files: [`can't be more than ${config.files.maxFileUploads}.`] });
    }
    await capacity.assertRoomFor(this.#actor, 0);
    const fileId = await ids.next();
    const key = fileKey(this.dataKey, fileId);
    const blobKey = random.bytes(blobKeyBytes).toString("hex");
    await store.addUpload(blobKey, clock.now());
    this.#blobKeys.push(blobKey);
    const bytesBefore = this.#bytes;
    const content = sealStream(key, sealContexts.fileContent(fileId), this.#bounded(file.content), random);
    await storing(blobs.write(blobKey, content));
    const details = { filename: cleanFilename(file.filename), contentType: cleanContentType(file.contentType) };
    this.#files.push({
      id: fileId,
      blobKey,
      sizeBytes: this.#bytes - bytesBefore,
      detailsSealed: sealFileDetails(vault.keyring, { id: fileId, ownerId: this.ownerId, key }, details, random),
    });
  }

  /** From now on the blobs are the push's; `abandon` does nothing any more. */
  handOver(): void {
    this.#closed = true;
  }

  async abandon(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#blobKeys.length > 0) await this.#deps.store.abandonUploads(this.#blobKeys);
  }

  /** Counts, limits and keeps the upload's record fresh while bytes flow. */
  async *#bounded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { config, capacity, store, clock } = this.#deps;
    for await (const chunk of content) {
      this.#bytes += chunk.length;
      if (this.#bytes > config.files.pushBytesMax) {
        throw new AppError("too_large", `The files of one push may have ${config.files.pushBytesMax} bytes together.`);
      }
      await capacity.assertRoomFor(this.#actor, chunk.length);
      const now = clock.now();
      if (Math.abs(now - this.#lastRenewal) >= renewEveryMs) {
        this.#lastRenewal = now;
        await store.renewUploads(this.#blobKeys, now);
      }
      yield chunk;
    }
  }
}

/** A full or read-only disk is a state of the server, not a bug. */
async function storing<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOSPC" || code === "EDQUOT" || code === "EROFS" || code === "EIO" || code === "EACCES") {
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
