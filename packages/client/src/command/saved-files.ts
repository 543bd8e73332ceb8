import { type FileHandle, open, rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { systemErrorCode } from "./system-error.ts";
import { harmless } from "./text.ts";

const sameNamesMax = 1_000;

/**
 * Saves a file of a stranger under its own name, or under a similar one if that exists. Only this user may read it. What
 * could not be completed is removed.
 * @returns its path.
 */
export async function saveFile(
  filename: string,
  folder: string,
  content: AsyncIterable<Uint8Array>,
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

const nameCharactersMax = 100;

/** A name without folders and without the characters that file systems reserve; not hidden. */
export function safeName(filename: string): string {
  const last = filename.split(/[/\\]/).at(-1) ?? "";
  const name = harmless(last)
    .replace(/[<>:"|?*\ufffd]/g, "_")
    .replace(/^[.\s]+|[.\s]+$/g, "");
  const { name: stem, ext } = parse(name);
  const short = `${[...stem].slice(0, nameCharactersMax).join("")}${[...ext].slice(0, 20).join("")}`;
  return short === "" ? "file" : short;
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
