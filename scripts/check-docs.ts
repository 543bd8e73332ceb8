import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** Reports every path of this repository that a document names and that does not exist. */

const root = resolve(import.meta.dirname, "..");
const topFolders = "(?:src|packages|test|docs|scripts|deploy|bench|\\.ci)";
const topFolder = new RegExp(`^${topFolders}/`);
const codeSpan = /`([^`\n]+)`/g;
const pathInCode = new RegExp(`(?<![\\w./-])${topFolders}/[\\w.*{},/-]*[\\w*}/]`, "g");
/** A source file without its top folder, as ARCHITECTURE.md names them: from src/. */
const sourceInCode = /(?<![\w./*-])[\w-]+\/[\w./-]+\.tsx?\b/g;
const link = /\]\(([^)\s]+)\)/g;
/** Made by a command or by the operator. */
const notStored = /^(?:packages\/[\w-]+\/)?(?:dist|data|node_modules)(?:\/|$)|\/\.env$/;

const documents = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && !path.startsWith("test/fixtures/"));

/** The paths that a line names, from the root of the repository. */
function pathsIn(line: string, document: string): string[] {
  const inCode = [...line.matchAll(codeSpan)].flatMap(([, code = ""]) => [
    ...(code.match(pathInCode) ?? []),
    ...(code.match(sourceInCode) ?? []).filter((path) => !topFolder.test(path)).map((path) => `src/${path}`),
  ]);
  const links = [...line.matchAll(link)]
    .map(([, target = ""]) => target.replace(/[#?].*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/i.test(target))
    .map((target) => relative(root, resolve(root, dirname(document), target)));
  return [...inCode, ...links].filter((path) => !notStored.test(path));
}

/** Documents may name several files as `a/{b,c}.ts` or `a/*.ts`: each folder and each name without `*` must exist. */
function isThere(path: string): boolean {
  const [, before, choices, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  if (choices !== undefined) return choices.split(",").every((choice) => isThere(`${before}${choice}${after}`));
  const star = path.indexOf("*");
  return existsSync(join(root, star === -1 ? path : dirname(`${path.slice(0, star)}x`)));
}

const problems = documents.flatMap((document) =>
  readFileSync(join(root, document), "utf8")
    .split("\n")
    .flatMap((line, at) =>
      pathsIn(line, document)
        .filter((path) => !isThere(path))
        .map((path) => `${document}:${at + 1}: ${path} does not exist`),
    ),
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log("Every path named in the documents exists.");
