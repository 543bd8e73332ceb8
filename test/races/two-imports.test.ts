import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { settingsOfEngine } from "../support/engine.ts";
import { importOf } from "../support/password-pusher/import-run.ts";
import { installProduction } from "../support/password-pusher/installations.ts";
import { addManyPushes, manyTokenOf } from "../support/password-pusher/many-pushes.ts";
import { preloaded } from "../support/preload.ts";
import { newDataDir, runProgram, runToItsEnd, spawnProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

/** Neither import continues before both have created their reports: one might otherwise end before the other begins. */
const waitingForBoth = (reports: readonly string[]) => `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const reports = ${JSON.stringify(reports)};
  const { openSync } = fs;
  fs.openSync = (path, ...options) => {
    const file = openSync(path, ...options);
    const isMissing = (report) => !fs.existsSync(report);
    while (reports.includes(path) && reports.some(isMissing)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
    return file;
  };
  syncBuiltinESMExports();`;

const manyPushes = 1_500;
const tables = ["users", "pushes", "audit_entries", "notifications", "files"];

test("two concurrent imports import each row once in total, and neither reports a mismatch", async () => {
  const installation = installProduction((connection) => addManyPushes(connection, manyPushes));
  const dataDir = newDataDir();
  const environment = { ...(await settingsOfEngine(dataDir)), DATA_DIR: dataDir };
  const reports = ["first", "second"].map((name) => join(dirname(dataDir), `${name}.json`));
  const together = { ...environment, NODE_OPTIONS: preloaded(waitingForBoth(reports)) };
  const runs = await Promise.all(
    reports.map((report) => runToItsEnd(spawnProgram(importOf(installation, "--report", report), together))),
  );
  for (const { exitCode, stdout, stderr } of runs) {
    expect(exitCode, stderr).toBe(3);
    expect(stdout).not.toContain("do not agree");
  }
  const [one, other] = reports.map((report) => JSON.parse(readFileSync(report, "utf8")));
  expect([one.started_at < other.finished_at, other.started_at < one.finished_at]).toEqual([true, true]);

  const alone = join(dirname(dataDir), "alone.json");
  await runProgram(importOf(installation, "--report", alone), { DATA_DIR: newDataDir() });
  const undisturbed = JSON.parse(readFileSync(alone, "utf8"));
  for (const table of [...tables, "style_sheet"]) {
    const { brought, left_out: leftOut, skipped } = undisturbed[table];
    expect([table, one[table].brought + other[table].brought]).toEqual([table, brought]);
    for (const report of [one, other]) {
      expect([table, report[table].brought + report[table].known]).toEqual([table, brought]);
      expect([table, report[table].left_out, report[table].skipped]).toEqual([table, leftOut, skipped]);
    }
  }
  const server = await startServer({ dataDir });
  for (const number of [0, 1, manyPushes - 1]) {
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(number)}?passphrase=open+sesame`);
    expect(await answer.json()).toMatchObject({ payload: "correct-horse-battery-staple", views_remaining: 3 });
  }
});
