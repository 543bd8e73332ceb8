import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
/** Their positions after the name in /proc/pid/stat (proc(5)). */
const afterNameParent = 1;
const afterNameUtime = 11;
const afterNameStime = 12;
const afterNameChildrenUtime = 13;
const afterNameChildrenStime = 14;

/** CPU time of all threads of a process, user and system, in ms (proc(5), /proc/pid/stat; steps of 10 ms). */
export function cpuMs(pid: number): number {
  return sumMs(statOf(pid), [afterNameUtime, afterNameStime]);
}

/** The same for a process and its descendants, including those that have ended. */
export function treeCpuMs(pid: number): number {
  const counted = [afterNameUtime, afterNameStime, afterNameChildrenUtime, afterNameChildrenStime];
  return [pid, ...processesBelow(pid)].reduce((sum, each) => sum + sumMs(statOf(each), counted), 0);
}

/** Its descendants. */
export function processesBelow(pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? Number(statOf(Number(name))[afterNameParent]) : Number.NaN;
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (parent: number): readonly number[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

/** The fields after the name; none if the process has ended. */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name may contain blanks and brackets: fields are counted from its end.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch (error) {
    const hasEnded = error instanceof Error && "code" in error && ["ENOENT", "ESRCH"].includes(String(error.code));
    if (hasEnded) return [];
    throw error;
  }
}

function sumMs(stat: readonly string[], fields: readonly number[]): number {
  const ticks = fields.reduce((sum, field) => sum + Number(stat[field] ?? 0), 0);
  return (ticks * 1_000) / ticksPerSecond;
}

/** The peak memory of a process, in bytes (VmHWM in /proc/pid/status). */
export function peakResidentBytes(pid: number): number {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
  return Number(line?.[1] ?? Number.NaN) * 1024;
}
