import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { onTestFinished } from "vitest";

/** Where memory cgroups are made: version 1, or version 2 with the memory controller switched on. */
const hierarchies = [
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes" },
  { root: "/sys/fs/cgroup", limit: "memory.max" },
];

/**
 * A launcher for a program that may use this much memory; the kernel kills it beyond that. Undefined where no memory cgroup
 * can be made.
 */
export function memoryLimit(bytes: number): readonly string[] | undefined {
  for (const { root, limit } of hierarchies) {
    const folder = `${root}/sealpush-test-${process.pid}`;
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    onTestFinished(() => rmdirSync(folder));
    try {
      writeFileSync(`${folder}/${limit}`, String(bytes));
    } catch {
      continue;
    }
    return ["sh", "-c", `echo $$ > ${folder}/cgroup.procs && exec "$@"`, "sh"];
  }
  return undefined;
}

/** The most memory that a process has had, in bytes. */
export function peakMemory(pid: number): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kibibytes) * 1024;
}
