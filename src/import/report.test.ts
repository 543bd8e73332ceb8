import { mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openReport } from "./report.ts";

test("an error names the report that cannot be written, and the mode of a device is kept", () => {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "report.json");
  symlinkSync("/dev/full", path);
  const { mode } = statSync("/dev/full");

  const head = { version: "0.1.0", fingerprint: "none", dryRun: false, startedAt: 0 };
  expect(() => openReport({ given: path }, head)).toThrow(`${path} cannot be written (ENOSPC).`);
  expect(statSync("/dev/full").mode).toBe(mode);
});
