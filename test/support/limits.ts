import { execFileSync } from "node:child_process";

/**
 * Operating-system limits for a server process. The maximum file size simulates a full disk (writes fail with EFBIG and
 * the process goes on), and permission bits are enforced for root too.
 */

/** Part of util-linux, which every Linux server distribution includes. */
const limiter = "prlimit";

/** A launcher for `startServer`. Only the soft limit, so that `limitFileBytes` may raise it again. */
export function withFileBytesMax(bytes: number): readonly string[] {
  return [limiter, `--fsize=${bytes}:unlimited`];
}

/** Changes the limit of a running process. */
export function limitFileBytes(pid: number, bytes: number | "unlimited"): void {
  execFileSync(limiter, ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
}

/** Root ignores permission bits unless it drops these capabilities. */
export const boundByPermissions: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
