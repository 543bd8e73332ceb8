import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

/** The static checks. All of them run, so that one run reports every problem. */
const checks: readonly (readonly [string, ...string[]])[] = [
  // Several threads check the same types several times: a third more CPU, for little time on two cores.
  ["tsc", "--noEmit", "--singleThreaded", "-p", "."],
  ["tsc", "--noEmit", "--singleThreaded", "-p", "src/browser"],
  ["biome", "ci", "--error-on-warnings", "."],
  ["node", "scripts/import-rules.ts"],
  ["node", "scripts/commit-subjects.ts"],
  ["node", "scripts/docs.ts", "--check"],
  ["node", "scripts/check-docs.ts"],
  ["node", "scripts/check-words.ts"],
  ["node", "scripts/check-messages.ts"],
  ["node", "scripts/deploy-lint.ts"],
  ["knip"],
];

/** Scripts without their types, compiled: nearly half of the time of the short ones. `npm ci` removes it. */
const env = { ...process.env, NODE_COMPILE_CACHE: resolve(import.meta.dirname, "../node_modules/.cache/check") };

const failed = checks.filter(([command, ...parameters]) => {
  console.log(`> ${command} ${parameters.join(" ")}`);
  return spawnSync(command, parameters, { stdio: "inherit", env }).status !== 0;
});
for (const [command, ...parameters] of failed) console.error(`failed: ${command} ${parameters.join(" ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;
