import { execFileSync } from "node:child_process";

/**
 * Limits that the system sets on a server process, whoever runs the tests: the largest size a file of its may reach
 * stands for a full disk (writes fail with EFBIG, and the process lives on), and permission bits hold for root too.
 */

/** Of util-linux, which every Linux distribution for servers brings. */
const limiter = "prlimit";

/** A launcher for `startServer`. Only the soft limit, so that `limitFileBytes` may raise it again. */
export function withFileBytesMax(bytes: number): readonly string[] {
  return [limiter, `--fsize=${bytes}:unlimited`];
}

/** Of a process that runs. */
export function limitFileBytes(pid: number, bytes: number | "unlimited"): void {
  execFileSync(limiter, ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
}

/** Root passes over permission bits unless it gives that power away. */
export const boundByPermissions: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
