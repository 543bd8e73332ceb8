import { spawnSync } from "node:child_process";

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

const failed = checks.filter(([command, ...parameters]) => {
  console.log(`> ${command} ${parameters.join(" ")}`);
  return spawnSync(command, parameters, { stdio: "inherit" }).status !== 0;
});
for (const [command, ...parameters] of failed) console.error(`failed: ${command} ${parameters.join(" ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;
