import { statfs } from "node:fs/promises";

/** Free (to this process) and total bytes of the file system that contains the data folder. */
export type StatFs = () => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;

export function diskSpaceOf(path: string): StatFs {
  return async () => {
    const { bavail, blocks, bsize } = await statfs(path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  };
}

/** A large disk needs no larger reserve: ends of pushes take kilobytes. */
const freeBytesFloor = 1024 ** 3;
const freeShareFloor = 0.05;

/** With less free disk space no new push is accepted, so that ends of pushes can still be written. */
export function freeDiskFloorBytes(setting: number | "auto", totalBytes: number): number {
  return setting === "auto" ? Math.min(freeBytesFloor, totalBytes * freeShareFloor) : setting;
}
