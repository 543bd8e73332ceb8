import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import type { NewFile } from "../client.ts";
import { CommandRefused, exitCodes } from "./io.ts";
import { systemErrorCode } from "./system-error.ts";

export interface FilesToSend {
  readonly list: readonly NewFile[];
  /** Undefined if it is not known before the end. */
  readonly sizeBytes: number | undefined;
}

/** Files are opened before anything is sent, so a wrong name is noticed first. */
export async function filesAt(paths: readonly string[]): Promise<FilesToSend> {
  let sizeBytes = 0;
  const list: NewFile[] = [];
  for (const path of paths) {
    const file = await open(path, "r").catch((error: unknown) => {
      throw systemErrorCode(error) === "ENOENT" ? missing(path) : error;
    });
    try {
      const size = await sizeOf(file, path);
      sizeBytes += size;
      list.push({ filename: basename(path), content: () => createReadStream(path), sizeBytes: size });
    } finally {
      await file.close();
    }
  }
  return { list, sizeBytes };
}

/** People name a text as they would in a message. */
function missing(path: string): CommandRefused {
  const hint = "Only files are named here: a text is piped, or asked for.";
  return new CommandRefused(`${path} does not exist. ${hint}`, exitCodes.usage);
}

async function sizeOf(file: FileHandle, path: string): Promise<number> {
  const found = await file.stat();
  if (found.isFile()) return found.size;
  throw new CommandRefused(
    `${path} is not a file.${found.isDirectory() ? " Pack the folder first, for example with tar or zip." : ""}`,
    exitCodes.usage,
  );
}
