import { closeSync, constants, linkSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../base/random.ts";
import { systemErrorCode } from "./system-error.ts";

const fileName = "boot-code";
const fileBytesMax = 256;

export function bootCodePath(dataDir: string): string {
  return join(dataDir, fileName);
}

/**
 * `<dataDir>/boot-code`, mode 0600: the boot code of the first run, for the operator.
 * Each of its functions throws an Error with one sentence for the operator.
 */
export function createBootCodeFile(dataDir: string, random: Random) {
  const path = bootCodePath(dataDir);

  /** @returns undefined if the system call fails with the code `expected`. */
  function attempt<T>(what: string, expected: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === undefined) throw error;
      if (code === expected) return undefined;
      throw new Error(`${path} cannot be ${what} (${code}).`, { cause: error });
    }
  }

  return {
    read: () =>
      attempt("read", "ENOENT", () =>
        withFile(path, constants.O_RDONLY, (descriptor) => {
          const content = Buffer.alloc(fileBytesMax);
          return content.toString("latin1", 0, readSync(descriptor, content, 0, fileBytesMax, 0)).trim();
        }),
      ),
    // Written to a temporary file and linked into place: readers never see a partial file, and of several processes that
    // start at once, one creates the code and all of them read that one.
    make(code: string) {
      const draft = join(dataDir, `.${fileName}.${random.bytes(8).toString("hex")}`);
      try {
        attempt("created", "", () =>
          withFile(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (descriptor) =>
            writeFileSync(descriptor, `${code}\n`),
          ),
        );
        attempt("created", "EEXIST", () => linkSync(draft, path));
      } finally {
        rmSync(draft, { force: true });
      }
    },
    remove: () => attempt("removed", "ENOENT", () => rmSync(path)),
  };
}

function withFile<T>(path: string, flags: number, work: (descriptor: number) => T): T {
  const descriptor = openSync(path, flags, 0o600);
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
