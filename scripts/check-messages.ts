import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { languages } from "../src/i18n/i18n.ts";
import english from "../src/i18n/messages/en.json" with { type: "json" };
import { findMessageProblems } from "./messages.ts";

const folder = join(import.meta.dirname, "../src/i18n/messages");
const files = readdirSync(folder).map((name) => ({ tag: name.replace(/\.json$/, ""), path: join(folder, name) }));
const listed = new Set(languages.map((messages) => messages.locale.tag));

const problems = files.flatMap(({ tag, path }) => {
  const found = findMessageProblems(tag, JSON.parse(readFileSync(path, "utf8")), english);
  const unlisted = listed.has(tag) ? [] : ["src/i18n/i18n.ts does not list this language"];
  return [...unlisted, ...found].map((problem) => `${tag}.json: ${problem}`);
});
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`The messages of ${files.length} languages fit.`);
