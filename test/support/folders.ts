import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new folder that is removed when the test finishes. */
export function makeFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "sealpush-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
