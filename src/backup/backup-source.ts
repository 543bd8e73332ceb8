import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "../config/system-error.ts";
import { BackupError } from "./backup-error.ts";
import { manifestBytesMax, manifestName, readManifest, sealName } from "./manifest.ts";
import { readWhole, saying } from "./synced-files.ts";
import { type Member, readTar } from "./tar-reader.ts";

/** The files of a backup, each once, in any order. @throws BackupError when it is none. */
export type BackupSource = () => AsyncIterable<Member>;

/** @param from a folder or an archive. @throws BackupError when there is neither. */
export function openBackup(from: string): BackupSource {
  if (!existsSync(from)) throw new BackupError(`There is no backup at ${from}.`);
  return statSync(from).isDirectory() ? () => readFolder(from) : () => readTar(chunksOf(from));
}

export function openPipe(stdin: AsyncIterable<Uint8Array>): BackupSource {
  return () => readTar(stdin);
}

/** The manifest first, then what it names and nothing else: whatever else lies there is not looked at. */
async function* readFolder(folder: string): AsyncGenerator<Member> {
  const [manifest, seal] = [await memberOf(folder, manifestName), await memberOf(folder, sealName)];
  if (manifest.bytes > manifestBytesMax) throw new BackupError("The manifest of the backup is too long to be one.");
  const { files } = readManifest(
    await saying(join(folder, manifestName), "read", () => readFile(join(folder, manifestName))),
  );
  yield manifest;
  yield seal;
  for (const { path } of files) yield await memberOf(folder, path);
}

async function memberOf(folder: string, path: string): Promise<Member> {
  const place = join(folder, path);
  if (!existsSync(place)) throw new BackupError(`The backup has no ${path}: it is not complete.`);
  return { path, bytes: statSync(place).size, content: chunksOf(place) };
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* readWhole(path);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    throw new BackupError(`${path} cannot be read (${code}).`, { cause: error });
  }
}
