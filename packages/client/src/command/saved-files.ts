import { type FileHandle, open, rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { systemErrorCode } from "./system-error.ts";
import { harmless } from "./text.ts";

const sameNamesMax = 1_000;

/** The bytes of a file, as they come or at once. */
export type Content = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Saves a file of a stranger under its own name, or under a similar one if that exists. Only this user may read it. What
 * could not be completed is removed.
 * @returns its path.
 */
export async function saveFile(
  filename: string,
  folder: string,
  content: Content,
  onProgress: ((savedBytes: number) => void) | undefined,
): Promise<string> {
  const { file, path } = await createFile(join(folder, safeName(filename)));
  try {
    let savedBytes = 0;
    for await (const chunk of content) {
      await file.writeFile(chunk);
      savedBytes += chunk.length;
      onProgress?.(savedBytes);
    }
    await file.sync();
    await file.close();
    return path;
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
}

const stemMax = { characters: 100, bytes: 160 };
const extensionMax = { characters: 20, bytes: 80 };
/** What Windows takes for a device, whatever its extension: what is written to `nul` is lost. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * A name without folders and without the characters that file systems reserve; not hidden, no device. With a number it has at
 * most 255 bytes, which most file systems allow: a view must not be spent on a file that cannot be saved.
 */
export function safeName(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? "";
  const name = harmless(last)
    .replace(/[<>:"|?*\ufffd]/g, "_")
    .replace(/^[.\s]+|[.\s]+$/g, "");
  const { name: stem, ext } = parse(name);
  const short = `${cut(stem, stemMax)}${cut(ext, extensionMax)}`;
  if (short === "") return "file";
  return deviceName.test(short) ? `_${short}` : short;
}

function cut(text: string, max: { readonly characters: number; readonly bytes: number }): string {
  const characters = [...text].slice(0, max.characters);
  while (Buffer.byteLength(characters.join("")) > max.bytes) characters.pop();
  return characters.join("");
}

async function createFile(wanted: string): Promise<{ readonly file: FileHandle; readonly path: string }> {
  const { dir, name, ext } = parse(wanted);
  for (let number = 0; ; number += 1) {
    const path = number === 0 ? wanted : join(dir, `${name} (${number})${ext}`);
    try {
      return { file: await open(path, "wx", 0o600), path };
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST" || number >= sameNamesMax) throw error;
    }
  }
}
