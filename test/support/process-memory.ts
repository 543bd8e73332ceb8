import { closeSync, openSync, readFileSync, readSync } from "node:fs";

const pieceBytes = 16 * 1024 ** 2;
/** Longer than what is searched for, so that it is found across two pieces too. */
const overlapBytes = 1024;

/** The readable memory of a process, in pieces that overlap. Linux only; needs the right to trace the process. */
export function* memoryOf(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, "r");
  try {
    for (const { start, end } of readableRegions(pid)) {
      for (let at = start; at < end; at += pieceBytes - overlapBytes) {
        const piece = Buffer.alloc(Math.min(pieceBytes, end - at));
        const bytes = readAt(memory, piece, at);
        if (bytes > 0) yield piece.subarray(0, bytes);
      }
    }
  } finally {
    closeSync(memory);
  }
}

function readableRegions(pid: number): readonly { readonly start: number; readonly end: number }[] {
  return readFileSync(`/proc/${pid}/maps`, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, start = "", end = "", name = ""] = /^([0-9a-f]+)-([0-9a-f]+) r\S+ \S+ \S+ \S+\s*(.*)$/.exec(line) ?? [];
      // The kernel's own pages cannot be read.
      if (start === "" || name.startsWith("[v")) return [];
      return [{ start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) }];
    });
}

/** @returns 0: the process has released this region since. */
function readAt(memory: number, into: Buffer, at: number): number {
  try {
    return readSync(memory, into, 0, into.length, at);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "EIO" || error.code === "EFAULT")) return 0;
    throw error;
  }
}
