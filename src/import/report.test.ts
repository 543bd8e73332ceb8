import { statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/folders.ts";
import { openReport } from "./report.ts";

test("an error names the report that cannot be written, and the mode of a device is kept", () => {
  const folder = makeFolder();
  const path = join(folder, "report.json");
  symlinkSync("/dev/full", path);
  const { mode } = statSync("/dev/full");

  const head = { version: "0.1.0", fingerprint: "none", dryRun: false, startedAt: 0 };
  expect(() => openReport({ given: path }, head)).toThrow(`${path} cannot be written (ENOSPC).`);
  expect(statSync("/dev/full").mode).toBe(mode);
});
