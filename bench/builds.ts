import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { assignCores } from "./cores.ts";
import { describeMachine } from "./machine.ts";
import { publish } from "./report.ts";
import { compareBuilds } from "./two-builds.ts";

/** Only the comparison of two builds, for work on one of them. `--before`: the program of another build, or of this one. */
const { values } = parseArgs({
  options: { short: { type: "boolean", default: false }, before: { type: "string" }, json: { type: "string" } },
});
const machine = describeMachine();
const cores = assignCores();
const dataDir = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
const { figures, broken } = await compareBuilds(cores, dataDir, { short: values.short, programBefore: values.before });
rmSync(dataDir, { recursive: true });
const report = {
  benchmark: "Create and claim of two builds, loaded at the same time",
  short: values.short,
  machine,
  conditions: [cores.sentence],
  figures,
  broken,
};
process.exitCode = publish(report, values.json);
