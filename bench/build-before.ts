import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The build that this one is compared with: a ratio to it does not differ from machine to machine. */
export const commitBefore = "17e78b70";

const repository = fileURLToPath(new URL("..", import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "sealpush-bench");

/**
 * Clones and builds the commit when it is first asked for. Not below `node_modules`: Node loads no TypeScript from there.
 * @returns its program.
 */
export function buildBefore(): string {
  const folder = join(cache, commitBefore);
  const program = join(folder, "dist", "main.js");
  if (existsSync(program)) return program;
  console.log(`Building commit ${commitBefore} in ${folder}`);
  const unfinished = `${folder}.unfinished`;
  for (const old of [unfinished, folder]) rmSync(old, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  run(cache, "git", ["clone", "--quiet", "--no-checkout", repository, unfinished]);
  run(unfinished, "git", ["checkout", "--quiet", commitBefore]);
  run(unfinished, "npm", ["ci", "--no-audit", "--no-fund", "--silent"]);
  run(unfinished, "npm", ["run", "--silent", "build"]);
  renameSync(unfinished, folder);
  return program;
}

function run(folder: string, command: string, parameters: readonly string[]): void {
  execFileSync(command, [...parameters], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
}
