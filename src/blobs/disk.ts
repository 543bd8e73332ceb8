import { statfs } from "node:fs/promises";

/** Free (to this process) and total bytes of the file system that holds the data. */
export type StatFs = () => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;

export function diskSpaceOf(path: string): StatFs {
  return async () => {
    const { bavail, blocks, bsize } = await statfs(path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  };
}

const freeBytesFloor = 1024 ** 3;
const freeShareFloor = 0.05;

/** Below this much free disk no new push is taken, so that what ends pushes still has room to write. */
export function freeDiskFloorBytes(setting: number | "auto", totalBytes: number): number {
  return setting === "auto" ? Math.max(freeBytesFloor, totalBytes * freeShareFloor) : setting;
}
