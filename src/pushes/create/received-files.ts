import { AppError, errorCode, invalidFields, unavailable } from "../../base/errors.ts";
import { BlobStoreError } from "../../blobs/blob-store.ts";
import type { Config } from "../../config/config.ts";
import type { Actor } from "../actor.ts";
import type { PushDeps } from "../deps.ts";
import type { FileDetails, KeyedFile } from "../seals.ts";
import type { FileRow } from "../store/tables.ts";
import type { SpentBytes } from "./byte-budgets.ts";

export const blobKeyBytes = 16;

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

/** Charges the bytes of a file to its sender's budget while they arrive, and checks that there is space for them. */
export function createByteMeter({ clock, capacity }: UploadDeps, spent: SpentBytes, actor: Actor) {
  let uncharged = 0;
  let due = 0;

  /** Charges the rest. @throws AppError bytes_used_up. */
  async function end(): Promise<void> {
    const bytes = uncharged;
    uncharged = 0;
    await spent.charge(bytes, clock.now());
  }

  return {
    /** @throws AppError bytes_used_up, unavailable. */
    async take(bytes: number): Promise<void> {
      uncharged += bytes;
      if (uncharged > due) {
        await end();
        due = chargedBytes;
      }
      await capacity.assertRoomForFile(actor, bytes);
    },
    end,
  };
}

/** What is wrong with a file that was sent, as opposed to the number of files. */
export const unusableFiles = {
  unsealed: "must be age files: encryption says that they were sealed before they were sent.",
  incomplete: "An upload is not complete.",
  gone: "An upload does not exist, or its file is already part of a push.",
} as const;

/** @param problems of the field `files`. */
export function nameUnusableFile(problems: readonly string[]): boolean {
  return Object.values(unusableFiles).some((problem) => problems.includes(problem));
}

export function filesTooLarge({ files }: Pick<Config, "files">): AppError {
  return new AppError("too_large", `The files of one push may have at most ${files.pushBytesMax} bytes together.`);
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
    if (storageStates.has(errorCode(error) ?? "") || error instanceof BlobStoreError) {
      throw unavailable("The storage cannot take files now.", 60, error);
    }
    throw error;
  }
}

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
