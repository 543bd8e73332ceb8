import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
const afterNameUtime = 11;
const afterNameStime = 12;

/** CPU time of all threads of a process, user and system, in ms (proc(5), /proc/pid/stat; steps of 10 ms). */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name may hold blanks and brackets: fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[afterNameUtime]) + Number(fields[afterNameStime]);
  return (ticks * 1_000) / ticksPerSecond;
}

/** The most memory a process ever held, in bytes (VmHWM in /proc/pid/status). */
export function peakResidentBytes(pid: number): number {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
  return Number(line?.[1] ?? Number.NaN) * 1024;
}
