import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/folders.ts";
import { openReport } from "./report.ts";

const head = { version: "0.1.0", fingerprint: "none", dryRun: false, startedAt: 0 };

test("an error names the report that cannot be written, and the mode of a device is kept", () => {
  const folder = makeFolder();
  const path = join(folder, "report.json");
  symlinkSync("/dev/full", path);
  const { mode } = statSync("/dev/full");

  expect(() => openReport({ given: path }, head)).toThrow(`${path} cannot be written (no space left on device).`);
  expect(statSync("/dev/full").mode).toBe(mode);
});

test("the name of a file cannot send control characters to a terminal", () => {
  const report = join(makeFolder(), "report.json");
  const { problem, finish } = openReport({ given: report }, head);
  const file = { name: 'a\u001b[2J"\u202d', service: "local", key: "\u0085" };
  problem({ table: "pushes", id: 1, effect: "left_out", reason: "It is missing.", file });
  finish({ outcome: "with_problems", finishedAt: 0, summary: undefined, failure: undefined });
  expect(readFileSync(report.replace(".json", ".txt"), "utf8")).toContain(
    String.raw`The file is "a\u001b[2J\"\u{202d}", in the service "local" under the key "\u{85}".`,
  );
  expect(JSON.parse(readFileSync(report, "utf8")).problems[0].file).toEqual(file);
});

test("an earlier report is replaced, and nothing else: no other file, and no link", () => {
  const folder = makeFolder();
  const finish = { outcome: "complete", finishedAt: 0, summary: undefined, failure: undefined } as const;
  const report = join(folder, "report.json");
  for (let runs = 0; runs < 2; runs += 1) openReport({ given: report }, head).finish(finish);
  expect(JSON.parse(readFileSync(report, "utf8"))).toMatchObject({ product: "sealpush", outcome: "complete" });

  const key = join(folder, "master.key");
  writeFileSync(key, "a key");
  const link = join(folder, "link.json");
  symlinkSync(report, link);
  const beside = join(folder, "beside.json");
  writeFileSync(join(folder, "beside.txt"), "notes");
  for (const path of [key, link, beside]) {
    expect(() => openReport({ given: path }, head)).toThrow(/is not a report of an import, so it is not replaced/);
  }
  expect(readFileSync(key, "utf8")).toBe("a key");
  expect(readFileSync(join(folder, "beside.txt"), "utf8")).toBe("notes");
  expect(existsSync(`${key}.txt`)).toBe(false);
});
