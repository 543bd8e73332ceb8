import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Reports turns of phrase that a reader has to read twice. CONTRIBUTING.md says what to write instead. */

const root = resolve(import.meta.dirname, "..");
const searched = ["src", "packages", "scripts", "test", "docs", "README.md"];
const skipped = ["scripts/check-words.ts", "docs/openapi.json", "test/fixtures/"];

const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bwhoever\b/i, "name the person or the program"],
  [/\b(?:is|are) told\b/, "say what is sent, called or shown"],
  [/\b(?:lies|lie) in\b/, '"is in" or "is stored in"'],
  [/\bstands? in\b/, '"is in", "contains" or "replaces"'],
];
const commentStarts: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\s)(?:\/\/|\/\*\*?|\*) (?:Of|Who) /, "start with the subject"],
  [/(?:^|\s)(?:\/\/|\/\*\*?|\*) Not before /, "say what comes first"],
];

const files = execFileSync("git", ["ls-files", ...searched], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((path) => /\.(?:tsx?|md|json|css|sql)$/.test(path) && !skipped.some((prefix) => path.startsWith(prefix)));

const problems = files.flatMap((path) =>
  readFileSync(join(root, path), "utf8")
    .split("\n")
    .flatMap((line, at) =>
      [...phrases, ...(path.endsWith(".md") ? [] : commentStarts)].flatMap(([pattern, instead]) => {
        const found = pattern.exec(line)?.[0].trim();
        return found === undefined ? [] : [`${path}:${at + 1}: "${found}": ${instead}`];
      }),
    ),
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
