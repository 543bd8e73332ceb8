import { closeSync, existsSync, fsyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "../../base/random.ts";
import { freeDiskFloorBytes, type StatFs } from "../../blobs/disk.ts";
import type { Config } from "../../config/config.ts";
import { systemErrorCode } from "../../config/system-error.ts";
import { embeddedFileOf } from "../../database/open-database.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const gibibyte = 1024 ** 3;
const probeBytes = 4_096;

/** Writes a small file to each folder of the data, syncs it and removes it. */
export function checkWritable(config: Config, random: Random): Finding[] {
  const { dataDir } = config;
  const path = embeddedFileOf(config.database);
  const folders = new Set([dataDir, ...(path === undefined ? [] : [dirname(path)])]);
  return [...folders].map((folder) => checkFolder(folder, random));
}

function checkFolder(folder: string, random: Random): Finding {
  const name = "disk writable";
  if (!existsSync(folder)) return fail(name, `${folder} does not exist: start the server once, or check DATA_DIR.`);
  try {
    writeProbe(join(folder, `.doctor.${random.bytes(8).toString("hex")}`), random);
    return ok(name, `A file in ${folder} was written, synced and removed.`);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    return fail(name, `A file in ${folder} cannot be written (${code}).`);
  }
}

function writeProbe(path: string, random: Random): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeSync(descriptor, random.bytes(probeBytes));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
    unlinkSync(path);
  }
}

/** Whether free space is above the floor below which the server accepts no new pushes. Warns below twice the floor. */
export async function checkSpace(config: Config, diskSpace: StatFs): Promise<Finding[]> {
  const { freeBytes, totalBytes } = await diskSpace();
  const floor = freeDiskFloorBytes(config.freeDiskBytesMin, totalBytes);
  const sentence = `${inGibibytes(freeBytes)} free of ${inGibibytes(totalBytes)}; below ${inGibibytes(floor)} no new push is accepted.`;
  if (freeBytes < floor) return [fail("disk space", sentence)];
  return [freeBytes < 2 * floor ? warn("disk space", sentence) : ok("disk space", sentence)];
}

function inGibibytes(bytes: number): string {
  return `${(bytes / gibibyte).toFixed(1)} GiB`;
}
