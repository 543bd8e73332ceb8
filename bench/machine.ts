import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { median } from "./statistics.ts";

/** statfs(2) f_type. */
const fileSystems: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlayfs"],
]);

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGib: number;
  readonly kernel: string;
  readonly node: string;
  readonly fileSystem: string;
  /** Median time of a durable write of 4 KiB. */
  readonly syncMicros: number;
  /** The load average of the minute before: above 0.5, other processes were busy. */
  readonly loadAverage: number;
}

export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? "unknown",
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
    fileSystem: fileSystems.get(statfsSync(tmpdir()).type) ?? "unknown",
    syncMicros: syncMicros(),
    loadAverage: loadavg()[0] ?? Number.NaN,
  };
}

const syncs = 200;

function syncMicros(): number {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
  const file = openSync(join(folder, "sync"), "w");
  const page = Buffer.alloc(4096, 1);
  const took: number[] = [];
  try {
    for (let at = 0; at < syncs; at += 1) {
      const startedAt = performance.now();
      writeSync(file, page, 0, page.length, at * page.length);
      fdatasyncSync(file);
      took.push((performance.now() - startedAt) * 1_000);
    }
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
  return Math.round(median(took));
}
