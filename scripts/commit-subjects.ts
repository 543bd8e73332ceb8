import { execFileSync } from "node:child_process";

const charactersMax = 72;

/** Without a history, as in an archive of the files, there is nothing to check. */
function git(...parameters: readonly string[]): string {
  try {
    return execFileSync("git", parameters, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
}

// Earlier commits have longer subjects. This file came with the rule.
const rule = git("log", "--diff-filter=A", "--format=%H", "--", "scripts/commit-subjects.ts").split("\n").at(-1) ?? "";
const subjects = rule === "" ? [] : git("log", "--no-merges", "--format=%h %s", `${rule}..HEAD`).split("\n");
const long = subjects.filter((line) => line.slice(line.indexOf(" ") + 1).length > charactersMax);
for (const line of long) console.error(`The subject of this commit has more than ${charactersMax} characters: ${line}`);
if (long.length > 0) process.exitCode = 1;
else console.log("The subjects of commits are short.");
