import { realpath, stat } from "node:fs/promises";
import nodePath, { type PlatformPath } from "node:path";

const refusal = "There is no such file in the folder that was opened for this.";

/**
 * A model may be talked into sharing any file, so it reaches only those of one folder, also through links.
 * @param folder undefined: none was opened. @returns the real path. @throws Error with a sentence for the model.
 */
export async function fileIn(folder: string | undefined, named: string): Promise<string> {
  // Before anything is opened: on Windows, looking at \\host\share sends the user's credentials there.
  if (folder === undefined || !isBelow(nodePath.resolve(folder), named, nodePath)) throw new Error(refusal);
  const root = await realpath(folder);
  const path = await realpath(nodePath.resolve(folder, named)).catch(() => undefined);
  if (path === undefined || !isBelow(root, path, nodePath) || !(await stat(path)).isFile()) throw new Error(refusal);
  return path;
}

/** Whether the name, by its text alone, is that of something below the folder. @param folder an absolute path. */
export function isBelow(
  folder: string,
  named: string,
  { isAbsolute, relative, resolve, sep }: Pick<PlatformPath, "isAbsolute" | "relative" | "resolve" | "sep">,
): boolean {
  const way = relative(folder, resolve(folder, named));
  // On Windows there is no relative way to another drive or host.
  return way !== "" && !isAbsolute(way) && !way.split(sep).includes("..");
}
