import { readFileSync } from "node:fs";

const mebibyte = 1024 * 1024;

/** The most that one password hash takes. Hashes run one at a time. */
const hashBytes = 64 * mebibyte;
/** What the bodies in memory grow by while they are decoded, sealed and stored, and what V8 has not collected yet. */
const growthBytes = 48 * mebibyte;

interface ShortageDeps {
  /** The memory that this process may use. */
  readonly memoryBytes: number;
  /** Whether a password hash is being computed. */
  readonly isHashing: () => boolean;
  /** See `readPrivateBytes`. */
  readonly privateBytes: () => number;
}

/**
 * Whether the memory of this process has no room for another large body. A container's kernel kills the process at its limit,
 * and the bytes of the bodies are only a part of what they cause.
 */
export function createShortage({ memoryBytes, isHashing, privateBytes }: ShortageDeps) {
  const usableBytes = Math.max(memoryBytes / 2, memoryBytes - hashBytes - growthBytes);
  return () => privateBytes() - (isHashing() ? hashBytes : 0) > usableBytes;
}

/** The memory that belongs to this process alone: the kernel can drop the pages of the program's files. */
export function readPrivateBytes(): number {
  if (process.platform !== "linux") return process.memoryUsage.rss();
  const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1];
  return Number(kibibytes) * 1024;
}
