import { statfs } from "node:fs/promises";

/** Free (to this process) and total bytes of the file system that holds the data. */
export type StatFs = () => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;

export function diskSpaceOf(path: string): StatFs {
  return async () => {
    const { bavail, blocks, bsize } = await statfs(path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  };
}
